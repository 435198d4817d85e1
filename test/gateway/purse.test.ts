import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { createFirstCalls } from '../../src/engine/money/first-calls.ts'
import { OverCap } from '../../src/gateway/money/purse.ts'
import { facts, makeSpenders, worst } from './purse-parts.ts'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})
const { db, journal, settler, recovery, begin, booked, held } = await makeSpenders((close) => closers.push(close))

const soon = async (check: () => Promise<boolean>) => {
  for (let tries = 0; tries < 200; tries++) {
    if (await check()) return
    await new Promise((again) => setTimeout(again, 10))
  }
  throw new Error('it did not come to that')
}

const spentToday = async () => {
  const { rows } = await sql<{ sum: number | null }>`select sum(counted_usd) as sum from pawl.ledger`.execute(db)
  return rows[0]?.sum ?? 0
}

it('what a call could cost is stored before it may leave, and what it came to is booked and nothing stays open', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 10 } })
  const call = await purse.reserve(worst(500, 500))
  expect((await held(run.id))!.open).toBeGreaterThanOrEqual(1)
  call.settle(facts(1, 250))
  await soon(async () => (await booked(run.id)).lines === 1)
  expect((await held(run.id))!.open).toBe(0)
  expect(await end()).toBe(true)
  expect(await booked(run.id)).toEqual({ counted: 0.25, cost: 0.25, lines: 1, unknown: 0 })
  expect(await held(run.id)).toBeUndefined()
})

it('what a run needed for its first call is held for the next run of its agent before that calls, and counts as spent by nobody', async () => {
  const firstCalls = createFirstCalls()
  const first = await begin({ budget: { usd: 1000 }, firstCalls })
  first.purse.expect()
  ;(await first.purse.reserve(worst(500, 500))).settle(facts(1, 1000))
  await first.end()

  const { run, purse, end } = await begin({ budget: { usd: 1000 }, firstCalls })
  purse.expect()
  await soon(async () => (await held(run.id)) !== undefined)
  expect(await held(run.id)).toEqual({ usd: 1.25, open: 0 })
  const call = await purse.reserve(worst(500, 500))
  expect(await held(run.id)).toEqual({ usd: 1.25, open: 1.25 })
  call.settle(facts(1, 250))
  await end()
  expect(await booked(run.id)).toMatchObject({ counted: 0.25, lines: 1 })
  expect(await held(run.id)).toBeUndefined()
})

it('what is held for a first call that never comes goes with the run, and near a cap others get it', async () => {
  const firstCalls = createFirstCalls()
  const first = await begin({ budget: { usd: 10 }, firstCalls })
  ;(await first.purse.reserve(worst(500, 500))).settle(facts(1, 0))
  await first.end()

  const shared = { userDayUsd: (await spentToday()) + 2 }
  const waiting = await begin({ budget: { usd: 10 }, shared, firstCalls })
  waiting.purse.expect()
  await soon(async () => (await held(waiting.run.id)) !== undefined)
  expect(await held(waiting.run.id)).toEqual({ usd: 1.25, open: 0 })
  const other = await begin({ budget: { usd: 10 }, shared })
  const call = await other.purse.reserve(worst(1000, 1000))
  expect(await held(waiting.run.id)).toEqual({ usd: 0, open: 0 })
  call.settle(facts(1, 0))
  await other.end()

  const quick = await begin({ budget: { usd: 10 }, firstCalls })
  quick.purse.expect()
  await quick.end()
  await waiting.end()
  for (const { run } of [waiting, quick]) expect(await held(run.id)).toBeUndefined()
})

it('a call that was not served costs nothing and is told; one that told no usage counts as the most it could cost', async () => {
  const { task, run, purse, end } = await begin({ budget: { usd: 10 } })
  const refused = await purse.reserve(worst(500, 500))
  refused.release({ ...facts(1, undefined), status: 429, refusal: { kind: 'rate_limited', message: 'Slow down.' } })
  const silent = await purse.reserve(worst(500, 500))
  silent.settle(facts(2, undefined))
  await end()
  expect(await booked(run.id)).toEqual({ counted: 1, cost: null, lines: 1, unknown: 1 })
  const told = (await journal.read(task.id, { after: 0, limit: 100 })).flatMap((event) =>
    event.type === 'model.called' ? [event.data] : [],
  )
  expect(told).toMatchObject([
    { status: 429, refusal: { kind: 'rate_limited' } },
    { known: 'unknown', countedUsd: 1 },
  ])
})

it('a better service is reserved and counted dearer than its listed price, and its cost is not known', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 10 } })
  const call = await purse.reserve({ ...worst(500, 500), times: 3 })
  expect((await held(run.id))!.open).toBeGreaterThanOrEqual(3)
  call.settle(facts(1, 250))
  await end()
  expect(await booked(run.id)).toEqual({ counted: 0.75, cost: null, lines: 1, unknown: 1 })
  await expect(
    begin({ budget: { usd: 2 } }).then(({ purse }) => purse.reserve({ ...worst(500, 500), times: 3 })),
  ).rejects.toThrow(OverCap)
})

it('near a cap an answer is bounded to what fits, down to the least that is of use, and refused after that', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 1 } })
  const call = { ...worst(100, 4_000), leastOutputTokens: 500 }
  const first = await purse.reserve(call)
  expect(first.outputTokens).toBe(500)
  first.settle(facts(1, 250))
  const second = await purse.reserve(call)
  second.settle(facts(2, 250))
  await expect(purse.reserve(call)).rejects.toThrow(OverCap)
  await end()
  expect(await booked(run.id)).toMatchObject({ counted: 0.5, lines: 2 })
  const far = await begin({ budget: { usd: 10 } })
  const whole = await far.purse.reserve(call)
  expect(whole.outputTokens).toBe(4_000)
  whole.settle(facts(1, 0))
  await far.end()
})

it('two hundred calls at once under one cap spend exactly the cap and no more', async () => {
  const spenders = await Promise.all(Array.from({ length: 4 }, () => begin({ shared: { dayUsd: 20 } })))
  const before = await sql<{ usd: number | null }>`select sum(counted_usd) as usd from pawl.ledger`.execute(db)
  expect(before.rows[0]!.usd ?? 0).toBeLessThan(20)
  const cap = 20 - (before.rows[0]!.usd ?? 0)
  let spent = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, async (_, index) => {
      const { purse } = spenders[index % spenders.length]!
      const call = await purse.reserve(worst(100, 400))
      await new Promise((done) => setTimeout(done, 5))
      spent += 0.25
      call.settle(facts(index, 250))
    }),
  )
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(spent).toBeLessThanOrEqual(cap)
  // As long as one more call fits it is let through: calls under way that turn out cheaper make room.
  expect(cap - spent).toBeLessThan(0.5)
  expect(refused.every((error) => error instanceof OverCap)).toBe(true)
  expect((refused[0] as OverCap).message).toMatch(
    /All tasks together have used \$19\.\d\d today; the day's budget is \$20\.00 \(budget\.day\): the next call of m could cost up to \$0\.50, and \$0\.\d\d is left\./,
  )
  expect((await Promise.race(spenders.map(({ over }) => over))).kind).toBe('over_budget')
  for (const { end } of spenders) await end()
  const after = await sql<{ usd: number }>`select sum(counted_usd) as usd from pawl.ledger`.execute(db)
  expect(after.rows[0]!.usd).toBeCloseTo(20 - cap + spent, 9)
  await sql`delete from pawl.ledger`.execute(db)
})

it('whatever calls could cost and come to, in however many runs, no cap is passed and the ledger is what was spent', async () => {
  const call = fc.record({
    most: fc.integer({ min: 0, max: 900 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    run: fc.nat(2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 40 }), fc.integer({ min: 0, max: 4_000 }), async (calls, capTokens) => {
      await sql`delete from pawl.ledger`.execute(db)
      const cap = capTokens / 1000
      const spenders = await Promise.all([0, 1, 2].map(() => begin({ shared: { monthUsd: cap } })))
      let spent = 0
      let number = 0
      await Promise.allSettled(
        calls.map(async ({ most, part, run }) => {
          const reservation = await spenders[run]!.purse.reserve(worst(0, most))
          await new Promise((done) => setTimeout(done, part * 10))
          const tokens = Math.round(most * part)
          spent += tokens
          if (tokens === 0) reservation.release(facts(++number, undefined))
          else reservation.settle(facts(++number, tokens))
        }),
      )
      expect(spent).toBeLessThanOrEqual(capTokens)
      for (const { end } of spenders) await end()
      const { rows } = await sql<{ usd: number | null }>`select sum(counted_usd) as usd from pawl.ledger`.execute(db)
      expect(rows[0]!.usd ?? 0).toBeCloseTo(spent / 1000, 9)
      expect((await sql`select 1 from pawl.reservations`.execute(db)).rows).toEqual([])
    }),
    { numRuns: 8 },
  )
  await sql`delete from pawl.ledger`.execute(db)
})

it('what others hold ahead is no reason to refuse a call', async () => {
  const one = await begin({ shared: { dayUsd: 100 } })
  const first = await one.purse.reserve(worst(0, 1000))
  first.settle(facts(1, 1000))
  await soon(async () => (await booked(one.run.id)).lines === 1)
  expect((await held(one.run.id))!.usd).toBeGreaterThan(1)
  const other = await begin({ shared: { dayUsd: 100 } })
  const large = await other.purse.reserve(worst(0, 99_000))
  expect((await held(one.run.id))!.usd).toBe(0)
  large.settle(facts(1, 0))
  await one.end()
  await other.end()
  await sql`delete from pawl.ledger`.execute(db)
})

it('a call waits for calls under way that may turn out cheaper, and goes when they have', async () => {
  const { purse, end } = await begin({ budget: { usd: 1 } })
  const first = await purse.reserve(worst(0, 900))
  let isThrough = false
  const second = purse.reserve(worst(0, 500)).then((call) => {
    isThrough = true
    return call
  })
  await new Promise((done) => setTimeout(done, 120))
  expect(isThrough).toBe(false)
  first.settle(facts(1, 100))
  ;(await second).settle(facts(2, 100))
  await end()
})

it.each([
  ['one run', { budget: { perRunUsd: 1 } }, /one run may use \$1\.00/],
  ['the task', { budget: { usd: 1 } }, /its budget is \$1\.00/],
  ["the agent's day", { budget: { perAgentDayUsd: 1 } }, /The agent helper/],
  ["the user's day", { shared: { userDayUsd: 1 } }, /The tasks of/],
  ['the month', { shared: { monthUsd: 1 } }, /budget\.month/],
])('the cap of %s is held before anything is spent', async (_, caps, message) => {
  await sql`delete from pawl.ledger`.execute(db)
  const { purse, end, over } = await begin(caps)
  const call = await purse.reserve(worst(0, 600))
  call.settle(facts(1, 600))
  await expect(purse.reserve(worst(0, 401))).rejects.toThrow(message)
  expect(await over).toMatchObject({ kind: 'over_budget' })
  // Whoever does not listen hears the same again, and nobody is asked for it.
  await expect(purse.reserve(worst(0, 1))).rejects.toThrow(message)
  await end()
})

it('a subtask draws on the budget of the task above it, and so does the next run of the task', async () => {
  const above = await begin({ budget: { usd: 1 } })
  const below = await begin()
  await sql`update pawl.tasks set parent_id = ${above.task.id}, root_id = ${above.task.id}, depth = 1 where id = ${below.task.id}`.execute(
    db,
  )
  const one = await above.purse.reserve(worst(0, 300))
  one.settle(facts(1, 300))
  const two = await below.purse.reserve(worst(0, 300))
  two.settle(facts(1, 300))
  await expect(below.purse.reserve(worst(0, 500))).rejects.toThrow(`The task ${above.task.id}, of which this one is a part,`)
  await below.end()
  await above.end()
  const again = await begin({ task: above.task, fence: 2 })
  await expect(again.purse.reserve(worst(0, 500))).rejects.toThrow('has used $0.60 with all its runs and subtasks')
  ;(await begin({ budget: { usd: 1 } })).purse.close()
  await again.end()
})

it('a model whose price nobody knows is held to the dearest, and its cost is unknown', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 1 } })
  const call = await purse.reserve(worst(0, 700, 'strange'))
  call.settle(facts(1, 200, 'strange'))
  await expect(purse.reserve(worst(0, 900, 'strange'))).rejects.toThrow(OverCap)
  await end()
  expect(await booked(run.id)).toEqual({ counted: 0.2, cost: null, lines: 1, unknown: 1 })
})

it.each([Number.NaN, 1e300, -5, 0.5])('%s tokens are none that a provider can have counted: the worst counts', async (tokens) => {
  const { run, purse, end } = await begin({ budget: { usd: 10 } })
  const call = await purse.reserve(worst(0, 500))
  call.settle(facts(1, tokens))
  await end()
  expect(await booked(run.id)).toEqual({ counted: 0.5, cost: null, lines: 1, unknown: 1 })
})

it('a run whose process died with a call under way is charged the most that call could cost, once', async () => {
  const { run, purse } = await begin({ budget: { usd: 10 } })
  const done = await purse.reserve(worst(0, 1000))
  done.settle(facts(1, 100))
  await purse.reserve(worst(0, 500))
  await soon(async () => (await booked(run.id)).lines === 1)
  expect(await settler.settleRun(run, { outcome: 'lost', text: '' })).toBe(true)
  expect(await settler.settleRun(run, { outcome: 'lost', text: '' })).toBe(false)
  const { counted, cost, unknown } = await booked(run.id)
  expect({ cost, unknown }).toEqual({ cost: 0.1, unknown: 1 })
  expect(counted).toBeGreaterThanOrEqual(0.6)
  expect(counted).toBeLessThanOrEqual(0.1 + 0.5 * 1.25)
  expect(await held(run.id)).toBeUndefined()
})

it('a run whose process died with no call under way is charged nothing more', async () => {
  const { run, purse } = await begin({ budget: { usd: 10 } })
  const done = await purse.reserve(worst(0, 1000))
  done.settle(facts(1, 100))
  await soon(async () => (await booked(run.id)).lines === 1)
  await settler.settleRun(run, { outcome: 'lost', text: '' })
  expect(await booked(run.id)).toEqual({ counted: 0.1, cost: 0.1, lines: 1, unknown: 0 })
})

it('a run whose process died before the first call that it was expected to make is charged nothing', async () => {
  const firstCalls = createFirstCalls()
  const first = await begin({ budget: { usd: 10 }, firstCalls })
  ;(await first.purse.reserve(worst(0, 1000))).settle(facts(1, 100))
  await first.end()
  const { run, purse } = await begin({ budget: { usd: 10 }, firstCalls })
  purse.expect()
  await soon(async () => (await held(run.id)) !== undefined)
  await settler.settleRun(run, { outcome: 'lost', text: '' })
  expect(await booked(run.id)).toMatchObject({ counted: null, lines: 0 })
  expect(await held(run.id)).toBeUndefined()
})

it('a run that was given to others may spend nothing more, and what it says too late is not counted twice', async () => {
  const { run, purse } = await begin({ budget: { usd: 10 } })
  const open = await purse.reserve(worst(0, 500))
  await settler.settleRun(run, { outcome: 'lost', text: '' })
  open.settle(facts(1, 500))
  await expect(purse.reserve(worst(0, 5000))).rejects.toThrow('given to another worker')
  await purse.close()
  await journal.flush()
  expect((await booked(run.id)).counted).toBeCloseTo(0.625, 9)
  expect(await held(run.id)).toBeUndefined()
})

it('what a dead run left reserved is found and booked', async () => {
  const { run } = await begin()
  await settler.settleRun(run, { outcome: 'lost', text: '' })
  await sql`insert into pawl.reservations (run_id, task_id, root_id, agent, account, user_name, fence, usd, open_usd, at) values (${run.id}, ${run.taskId}, ${run.taskId}, 'helper', '', 'local', 1, 3, 2, now())`.execute(
    db,
  )
  await recovery.look()
  expect(await booked(run.id)).toMatchObject({ counted: 2, unknown: 1 })
  expect(await held(run.id)).toBeUndefined()
})

it('most calls that come one after another ask the database for nothing', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 1000 } })
  const writes = async () =>
    (await sql<{ xmin: string }>`select xmin::text as xmin from pawl.reservations where run_id = ${run.id}`.execute(db)).rows[0]
      ?.xmin
  const seen = new Set<string | undefined>()
  for (let number = 1; number <= 50; number++) {
    const call = await purse.reserve(worst(0, 100))
    if (number % 5 === 0) seen.add(await writes())
    call.settle(facts(number, 1))
  }
  expect(seen.size).toBeLessThan(8)
  await end()
  expect((await booked(run.id)).counted).toBeCloseTo(0.05, 9)
})

it('what is kept open for quick calls is given back soon after the last of them', async () => {
  const { run, purse, end } = await begin({ budget: { usd: 1000 } })
  for (let number = 1; number <= 30; number++)
    (await purse.reserve(worst(0, 100))).settle({ ...facts(number, 10), durationMs: 1 })
  await soon(async () => (await booked(run.id)).lines === 30 && (await held(run.id))!.open === 0)
  await end()
  expect(await booked(run.id)).toMatchObject({ counted: 0.3, lines: 30, unknown: 0 })
})
