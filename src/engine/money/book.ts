import { addUsage, type CostKnowledge, costKnowledge, isNothing } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/usage.ts'
import type { Tx } from '../../store/database.ts'
import type { Entry } from '../../store/events.ts'
import { type Booked, type Booking, bookedOf, bookRest, nothingBooked } from '../../store/ledger.ts'
import type { LockedTask } from '../../store/tasks.ts'
import type { Ended } from '../retry.ts'

/** What a run has used and what its task has cost with all its runs, as the ledger has it when the run is over. */
export interface RunBooked {
  readonly usage: Usage | undefined
  readonly costUsd: number | undefined
  readonly task: { readonly costUsd: number | null; readonly known: CostKnowledge }
  /** Its last words, with what is now known of what they cost. */
  readonly said: readonly Entry[]
}

/**
 * Completes what was booked of a run while it went on: what the program says in the end is the truth, and the ledger's last line is the difference. `said` are its
 * last words, whose lines are stored with them in this same transaction. Of a run that was lost, what was booked before is all that is known.
 */
export async function bookRun(
  tx: Tx,
  run: { id: string; task: LockedTask; isFirst: boolean },
  end: Ended,
  said: readonly Entry[],
  at: Date,
): Promise<RunBooked> {
  const { task } = run
  const last = said.flatMap((entry) => entry.booking ?? [])
  const tells = (end.usage !== undefined && !isNothing(end.usage)) || (end.costUsd ?? 0) > 0
  if (!task.has_ledger && !tells && last.length === 0) {
    const costUsd = end.costUsd ?? (run.isFirst ? null : (task.result?.costUsd ?? null))
    return { usage: end.usage, costUsd: end.costUsd, task: { costUsd, known: 'reported' }, said }
  }
  const place = { id: run.id, taskId: task.id }
  const known = task.has_ledger ? await bookedOf(tx, place) : { run: nothingBooked, others: nothingBooked }
  const sofar = last.reduce(addBooking, known.run)
  const rest = restOf(sofar, end)
  if (rest) {
    const booking: Booking = {
      ...rest,
      rootId: task.root_id,
      agent: task.agent,
      account: task.account,
      user: task.user_name,
      model: task.agent_config.model ?? null,
    }
    await bookRest(tx, place, booking, at)
  }
  const own = rest ? addBooking({ ...sofar, known: rest.known === 'reported' ? 'reported' : sofar.known }, rest) : sofar
  const { others } = known
  const total =
    own.costUsd === null && others.costUsd === null ? (end.costUsd ?? null) : (own.costUsd ?? 0) + (others.costUsd ?? 0)
  return {
    usage: end.usage ?? (own.lines > 0 ? own.usage : undefined),
    costUsd: end.costUsd ?? own.costUsd ?? undefined,
    said: rest?.known === 'reported' ? said.map(asReported) : said,
    task: { costUsd: rounded(total), known: worse(own.known, others.lines > 0 ? others.known : 'reported') },
  }
}

const asReported = (entry: Entry): Entry =>
  entry.booking ? { ...entry, booking: { ...entry.booking, known: 'reported' } } : entry

type Rest = Pick<Booking, keyof Usage | 'costUsd' | 'countedUsd' | 'known'>

/** Undefined if nothing is missing. It may be less than nothing: a price table is no bill. */
function restOf(booked: Booked, end: Ended): Rest | undefined {
  const told = end.usage ?? booked.usage
  const beyond = (key: keyof Usage) => told[key] - booked.usage[key]
  const tokens = {
    inputTokens: beyond('inputTokens'),
    outputTokens: beyond('outputTokens'),
    cacheReadTokens: beyond('cacheReadTokens'),
    cacheWriteTokens: beyond('cacheWriteTokens'),
    // How many calls there were is known from the calls, where they were told.
    turns: booked.lines > 0 ? 0 : told.turns,
  }
  const isEven = Object.values(tokens).every((count) => count === 0)
  if (end.costUsd !== undefined) {
    const costUsd = end.costUsd - (booked.costUsd ?? 0)
    const countedUsd = end.costUsd - booked.countedUsd
    if (isEven && costUsd === 0 && countedUsd === 0 && booked.known === 'reported') return undefined
    return { ...tokens, costUsd, countedUsd, known: 'reported' }
  }
  return isEven ? undefined : { ...tokens, costUsd: null, countedUsd: 0, known: 'unknown' }
}

function addBooking(sum: Booked, booking: Rest): Booked {
  return {
    usage: addUsage(sum.usage, booking),
    costUsd: booking.costUsd === null ? sum.costUsd : (sum.costUsd ?? 0) + booking.costUsd,
    countedUsd: sum.countedUsd + booking.countedUsd,
    known: worse(sum.known, booking.known),
    lines: sum.lines + 1,
  }
}

const worse = (one: CostKnowledge, other: CostKnowledge) =>
  costKnowledge.indexOf(one) >= costKnowledge.indexOf(other) ? one : other

/** As the ledger has it: sums of fractions are not exact here. */
const rounded = (usd: number | null) => (usd === null ? null : Math.round(usd * 1e10) / 1e10)
