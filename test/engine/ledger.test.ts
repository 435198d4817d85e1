import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import { noUsage } from '../../src/domain/money/cost.ts'
import type { Usage } from '../../src/domain/money/usage.ts'
import { appendEvents, type Entry } from '../../src/store/events.ts'
import { type Booking, costOfTree, spentOfTrees, spentSince, sumCosts } from '../../src/store/ledger.ts'
import { makeParts } from './store.ts'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})
const parts = await makeParts((close) => closers.push(close))
const { db, settler, addTask, addWorker, admit, lease } = parts

const begun = async (fence = 1, task?: { id: string; session: string }) => {
  const made = task ?? (await addTask())
  const worker = await addWorker()
  const run = await admit(made, fence, worker)
  await lease(run, worker)
  return { task: made, run }
}
const booking = (usage: Partial<Usage>, costUsd: number | null, changes: Partial<Booking> = {}): Booking => ({
  ...noUsage,
  ...usage,
  ...{ rootId: 'x', agent: 'helper', account: '', user: 'local', model: 'm' },
  costUsd,
  countedUsd: costUsd ?? 9,
  known: costUsd === null ? 'unknown' : 'priced',
  ...changes,
})
const entry = (run: { id: string; taskId: string; fence: number }, runNo: number, line: Booking): Entry => ({
  ...{ task: run.taskId, run: run.id, runNo, fence: run.fence, at: new Date() },
  event: { type: 'agent.usage', data: { usage: noUsage } },
  booking: line,
})
const sums = async (run: string) => {
  const { rows } = await sql<{ counted: number | null; cost: number | null; tokens: number | null; lines: number }>`
    select sum(counted_usd) as counted, sum(cost_usd) as cost, sum(input_tokens + output_tokens) as tokens, count(*) as lines from pawl.ledger where run_id = ${run}
  `.execute(db)
  return rows[0]!
}

it('what is told twice is booked once, and a run that has lost its task books nothing', async () => {
  const { run } = await begun()
  const line = entry(run, 0, booking({ inputTokens: 10 }, 0.5))
  await appendEvents(db, [line, entry(run, 1, booking({ inputTokens: 10 }, 0.25))])
  await appendEvents(db, [line])
  await appendEvents(db, [{ ...entry(run, 2, booking({ inputTokens: 10 }, 7)), fence: run.fence + 1 }])
  expect(await sums(run.id)).toEqual({ counted: 0.75, cost: 0.75, tokens: 20, lines: 2 })
})

it('what the program says in the end is the truth, whatever the price table thought before', async () => {
  const { task, run } = await begun()
  await appendEvents(db, [entry(run, 0, booking({ inputTokens: 10 }, 0.5)), entry(run, 1, booking({ inputTokens: 5 }, null))])
  const said = [entry(run, 2, booking({ inputTokens: 5 }, 0.25))]
  const usage = { ...noUsage, inputTokens: 20, outputTokens: 7, turns: 3 }
  expect(await settler.settleRun(run, { outcome: 'succeeded', text: 'x', usage, costUsd: 0.6 }, { said })).toBe(true)
  const left = await sums(run.id)
  expect(left).toMatchObject({ tokens: 27, lines: 4 })
  expect(left.counted).toBeCloseTo(0.6, 9)
  expect(left.cost).toBeCloseTo(0.6, 9)
  const { rows } =
    await sql`select result -> 'costUsd' as cost, result -> 'costKnown' as known from pawl.tasks where id = ${task.id}`.execute(
      db,
    )
  expect(rows).toEqual([{ cost: 0.6, known: null }])
  const { rows: known } = await sql`select distinct known from pawl.ledger where run_id = ${run.id}`.execute(db)
  expect(known).toEqual([{ known: 'reported' }])
})

it('a run that is lost keeps what was booked, and its task counts it with the runs that follow', async () => {
  const { task, run } = await begun()
  await appendEvents(db, [entry(run, 0, booking({ inputTokens: 10, turns: 1 }, 0.5))])
  await settler.settleRun(run, { outcome: 'lost', text: '' })
  const { rows } = await sql`select cost_usd, usage -> 'inputTokens' as tokens from pawl.runs where id = ${run.id}`.execute(db)
  expect(rows).toEqual([{ cost_usd: 0.5, tokens: 10 }])
  const again = await begun(2, task)
  await appendEvents(db, [entry(again.run, 0, booking({ inputTokens: 1 }, 0.25))])
  await settler.settleRun(again.run, { outcome: 'succeeded', text: 'x' })
  const { rows: result } =
    await sql`select result -> 'costUsd' as cost, result -> 'costKnown' as known from pawl.tasks where id = ${task.id}`.execute(
      db,
    )
  expect(result).toEqual([{ cost: 0.75, known: 'priced' }])
})

it('however often batches are sent, runs are lost and settled twice, the ledger holds each figure once', async () => {
  const amount = fc.integer({ min: 0, max: 1_000 })
  const told = fc.record({ tokens: amount, cents: amount, sends: fc.integer({ min: 1, max: 3 }), isLate: fc.boolean() })
  const aRun = fc.record({
    told: fc.array(told, { maxLength: 6 }),
    isLost: fc.boolean(),
    reported: fc.option(amount),
    settles: fc.integer({ min: 1, max: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(aRun, { minLength: 1, maxLength: 4 }), async (runs) => {
      const task = await addTask()
      let expected = 0
      for (const [index, one] of runs.entries()) {
        const { run } = await begun(index + 1, task)
        const lines = one.told.map((line, no) => entry(run, no, booking({ inputTokens: line.tokens }, line.cents / 100)))
        const early = lines.filter((_, no) => !one.told[no]!.isLate)
        for (const line of early) for (let send = 0; send < one.told[line.runNo!]!.sends; send++) await appendEvents(db, [line])
        // What a dead worker had not stored is lost with it; what a living one had not stored goes with the end.
        const said = one.isLost ? [] : lines.filter((line) => !early.includes(line))
        const booked = (one.isLost ? early : lines).reduce((sum, line) => sum + line.booking!.countedUsd, 0)
        const reported = one.isLost || one.reported === null ? undefined : one.reported / 100
        expected += reported ?? booked
        for (let settle = 0; settle < one.settles; settle++)
          await settler.settleRun(
            run,
            one.isLost
              ? { outcome: 'lost', text: '' }
              : { outcome: 'interrupted', text: '', ...(reported === undefined ? {} : { costUsd: reported }) },
            { said },
          )
        for (const line of lines) await appendEvents(db, [line])
      }
      const tree = await costOfTree(db, task.id)
      expect(tree.countedUsd).toBeCloseTo(expected, 6)
    }),
    { numRuns: 12 },
  )
})

it('a task counts what is below it, and a subtask is held to the caps above it', async () => {
  const top = await addTask()
  const below = await addTask(newId('task', Date.now()))
  await sql`update pawl.tasks set parent_id = ${top.id}, root_id = ${top.id}, depth = 1, agent_config = jsonb_set(agent_config, '{budget}', '{"usd": 2}') where id = ${below.id}`.execute(
    db,
  )
  const { run } = await begun(1, top)
  const { run: other } = await begun(1, below)
  await appendEvents(db, [
    entry(run, 0, booking({ inputTokens: 1, turns: 1 }, 1)),
    entry(other, 0, booking({ inputTokens: 2, turns: 1 }, 0.5)),
  ])
  expect(await spentOfTrees(db, top.id, 'none', new Date())).toMatchObject([
    { task: top.id, countedUsd: 1.5, tokens: 3, turns: 2 },
  ])
  expect(await spentOfTrees(db, below.id, other.id, new Date())).toMatchObject([
    { task: below.id, budget: { usd: 2 }, countedUsd: 0, turns: 0 },
    { task: top.id, countedUsd: 1, turns: 1 },
  ])
  expect((await costOfTree(db, top.id)).costUsd).toBe(1.5)
})

it('sums are made by agent, model, user and day, and what has no price is named', async () => {
  const since = new Date()
  const { run } = await begun()
  await appendEvents(db, [
    entry(run, 0, booking({ inputTokens: 1 }, 1, { agent: 'a', model: 'm1' })),
    entry(run, 1, booking({ inputTokens: 1 }, null, { agent: 'b', model: 'odd', user: 'ada' })),
  ])
  const filter = { since, timeZone: 'UTC', limit: 10 }
  const byModel = await sumCosts(db, { ...filter, by: 'model' })
  expect(byModel.unpriced).toEqual(['odd'])
  expect(byModel.groups).toMatchObject([
    { key: 'odd', costUsd: null, countedUsd: 9, known: 'unknown' },
    { key: 'm1', costUsd: 1, known: 'priced' },
  ])
  expect(byModel.total).toMatchObject({ costUsd: 1, countedUsd: 10, known: 'unknown' })
  expect((await sumCosts(db, { ...filter, by: 'day' })).groups).toHaveLength(1)
  expect(await spentSince(db, since, { run: 'none', agent: 'a', user: 'ada' })).toEqual({ all: 10, agent: 1, user: 9 })
})
