import { addUsage, type CostKnowledge, costKnowledge, isNothing, noUsage } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Tx } from '../../store/database.ts'
import type { Entry } from '../../store/events.ts'
import { type Booked, type Booking, bookedOf, bookRest, nothingBooked, openNumber } from '../../store/ledger.ts'
import { endReservation } from '../../store/reservations.ts'
import type { LockedTask } from '../../store/tasks.ts'
import type { Ended } from '../base/retry.ts'

/** What a run has used and what its task has cost with all its runs, as the ledger has it when the run is over. */
export interface RunBooked {
  readonly usage: Usage | undefined
  readonly costUsd: number | undefined
  readonly task: { readonly costUsd: number | null; readonly known: CostKnowledge; readonly usage: Usage }
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
  const open = task.has_reservation ? await bookOpen(tx, run, said, at) : undefined
  const tells = (end.usage !== undefined && !isNothing(end.usage)) || (end.costUsd ?? 0) > 0
  if (!task.has_ledger && !tells && last.length === 0 && !open) {
    const costUsd = end.costUsd ?? (run.isFirst ? null : (task.result?.costUsd ?? null))
    return { usage: end.usage, costUsd: end.costUsd, task: { costUsd, known: 'reported', usage: noUsage }, said }
  }
  const place = { id: run.id, taskId: task.id }
  const known = task.has_ledger || open ? await bookedOf(tx, place) : { run: nothingBooked, others: nothingBooked }
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
    task: {
      costUsd: rounded(total),
      known: worse(own.known, others.lines > 0 ? others.known : 'reported'),
      usage: addUsage(own.usage, others.usage),
    },
  }
}

const asReported = (entry: Entry): Entry =>
  entry.booking ? { ...entry, booking: { ...entry.booking, known: 'reported' } } : entry

/**
 * Ends what the run holds for calls of models. What is still open of it, and is not freed by what the run said last, is for calls of which nobody will know how they ended:
 * they are counted as the most that they could have cost.
 */
async function bookOpen(
  tx: Tx,
  { id, task }: { id: string; task: LockedTask },
  said: readonly Entry[],
  at: Date,
): Promise<boolean> {
  const place = { id, taskId: task.id }
  const held = await endReservation(tx, place)
  const freed = said.reduce((sum, { frees }) => sum + (frees?.openUsd ?? 0), 0)
  const openUsd = rounded((held?.openUsd ?? 0) - freed) ?? 0
  if (!held || openUsd <= 0) return false
  const nobodyKnows = { ...noUsage, costUsd: null, countedUsd: openUsd, known: 'unknown' } as const
  const { root_id: rootId, agent, account, user_name: user } = task
  await bookRest(
    tx,
    place,
    { ...nobodyKnows, rootId, agent, account, user, model: held.model, provider: held.provider },
    at,
    openNumber,
  )
  return true
}

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
