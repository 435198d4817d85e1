import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Budget } from '../../src/domain/agent/agent-config.ts'
import { createPrices } from '../../src/domain/money/prices.ts'
import type { StopReason } from '../../src/engine/base/watch.ts'
import type { SharedCaps } from '../../src/engine/money/caps.ts'
import type { FirstCalls } from '../../src/engine/money/first-calls.ts'
import { createMeter } from '../../src/engine/money/meter.ts'
import { createPurse } from '../../src/engine/money/purse.ts'
import type { Route } from '../../src/gateway/base/route.ts'
import type { CallFacts, WorstCase } from '../../src/gateway/money/purse.ts'
import type { ModelUsage } from '../../src/gateway/wires/model-event.ts'
import type { Entry } from '../../src/store/events.ts'
import { loadTaken } from '../../src/store/runs.ts'
import { makeParts } from '../engine/store.ts'

/** A dollar for a thousand tokens of `m`, of each kind. */
export const prices = createPrices({ m: { input: 1000, output: 1000, cacheRead: 1000, cacheWrite: 1000 } }, {})

export const routeTo = (target: string): Route => ({
  model: target,
  target,
  provider: { name: 'maker', wire: 'anthropic', baseUrl: 'http://127.0.0.1:9', account: 'maker', key: async () => undefined },
})
export const worst = (inputTokens: number, outputTokens: number, target = 'm'): WorstCase => ({
  route: routeTo(target),
  inputTokens,
  outputTokens,
})
const noTokens: ModelUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
export const facts = (number: number, tokens: number | undefined, target = 'm'): CallFacts => ({
  ...{ number, route: routeTo(target), asked: target, translated: false, streamed: true },
  ...{ startedAt: new Date(), durationMs: 5, status: 200 },
  usage: tokens === undefined ? undefined : { ...noTokens, outputTokens: tokens },
})

/** A store with runs that spend. Nobody runs anything; whoever tests says what calls come to. */
export async function makeSpenders(onEnd: (close: () => Promise<void>) => void = onTestFinished) {
  const parts = await makeParts(onEnd)
  const { db, journal, settler, log, addTask, addWorker, admit, lease } = parts

  /** The next run of a task, with its purse. */
  const begin = async (
    options: {
      budget?: Budget
      shared?: Partial<SharedCaps>
      task?: { id: string; session: string }
      fence?: number
      firstCalls?: FirstCalls
    } = {},
  ) => {
    const task = options.task ?? (await addTask())
    if (options.budget)
      await sql`update pawl.tasks set agent_config = jsonb_set(agent_config, '{budget}', ${JSON.stringify(options.budget)}::jsonb) where id = ${task.id}`.execute(
        db,
      )
    const worker = await addWorker()
    const run = await admit(task, options.fence ?? 1, worker)
    await lease(run, worker)
    const [taken] = await loadTaken(db, [run.id])
    const over = Promise.withResolvers<StopReason>()
    const money = { prices, caps: { timeZone: 'UTC', ...options.shared }, firstCalls: options.firstCalls }
    const common = { taken: taken!, db, clock: systemClock, log, money, onOver: over.resolve }
    const meter = createMeter(common)
    let runNo = 0
    const purse = createPurse({
      ...common,
      journal,
      meter,
      record(event, booking, frees) {
        const entry: Entry = { task: task.id, run: run.id, runNo: runNo++, fence: run.fence, at: new Date(), event }
        return journal.append({ ...entry, ...(booking ? { booking } : {}), ...(frees ? { frees } : {}) })
      },
    })
    /** As a run ends that nothing has gone wrong with. */
    const end = async () => {
      await purse.close()
      meter.close()
      const said = await journal.withdraw(run.id)
      return settler.settleRun(run, { outcome: 'interrupted', text: '', usage: meter.usage }, { said })
    }
    return { task, run, purse, meter, end, over: over.promise }
  }
  const booked = async (run: string) => {
    const { rows } = await sql<{ counted: number | null; cost: number | null; lines: number; unknown: number }>`
      select sum(counted_usd) as counted, sum(cost_usd) as cost, count(*) as lines, count(*) filter (where known = 'unknown') as unknown from pawl.ledger where run_id = ${run}
    `.execute(db)
    return rows[0]!
  }
  const held = async (run: string) => {
    const { rows } = await sql<{
      usd: number
      open: number
    }>`select usd, open_usd as open from pawl.reservations where run_id = ${run}`.execute(db)
    return rows[0]
  }
  return { ...parts, begin, booked, held }
}
