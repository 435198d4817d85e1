import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noUsage } from '../../domain/money/cost.ts'
import type { TreeSpent } from '../../store/ledger.ts'
import { type Capped, leftMs, leftUsd, type OthersSpent, overCap } from './caps.ts'
import { periodStarts } from './day.ts'

const capped = (budget: Capped['budget'], shared: Partial<Capped['shared']> = {}): Capped => ({
  task: 'tsk_1',
  agent: 'claude',
  user: 'ada',
  budget,
  shared: { timeZone: 'UTC', ...shared },
})
const tree = (changes: Partial<TreeSpent>): TreeSpent => ({
  ...{ task: 'tsk_1', budget: {}, countedUsd: 0, tokens: 0, turns: 0, ranMs: 0 },
  ...changes,
})
const spent = (countedUsd: number, usage = {}) => ({ countedUsd, usage: { ...noUsage, ...usage } })
const alone: OthersSpent = { trees: [] }

test('a cap that is reached says which, how much was spent, and how to go on', () => {
  const over = overCap(spent(5.125), alone, capped({ usd: 5 }))
  expect(over).toEqual({
    kind: 'over_budget',
    message:
      'The task has used $5.13 with all its runs and subtasks; its budget is $5.00. Go on with a larger one: pawl task retry tsk_1 --budget-usd 11',
  })
  expect(overCap(spent(4.99), alone, capped({ usd: 5 }))).toBeUndefined()
})

test('a cap of nothing lets run what costs nothing, and stops at the first that costs something', () => {
  expect(overCap(spent(0, { inputTokens: 1_000, turns: 3 }), alone, capped({ usd: 0 }))).toBeUndefined()
  expect(overCap(spent(0.001), alone, capped({ usd: 0 }))).toMatchObject({
    message: expect.stringContaining('its budget is $0.00'),
  })
  expect(overCap(spent(0.001), alone, capped({ perRunUsd: 0 }))).toMatchObject({
    message: expect.stringContaining('one run may use $0.00'),
  })
  expect(overCap(spent(0), { trees: [tree({ budget: { usd: 0 }, countedUsd: 0.01 })] }, capped({ usd: 0 }))).toBeDefined()
  expect(leftUsd(alone, capped({ usd: 0 }))).toBe(0)
})

test.each<[string, Capped, OthersSpent, RegExp]>([
  ['one run', capped({ perRunUsd: 1 }), alone, /one run may use \$1\.00.*--budget-run-usd/],
  ['earlier runs', capped({ usd: 5 }), { trees: [tree({ budget: { usd: 5 }, countedUsd: 4 })] }, /has used \$5\.00/],
  [
    'the task above',
    capped({ usd: 5 }),
    { trees: [tree({}), tree({ task: 'tsk_0', budget: { usd: 3 }, countedUsd: 2 })] },
    /The task tsk_0, of which this one is a part, .*pawl task retry tsk_0/,
  ],
  ['tokens', capped({ tokens: 100 }), alone, /110 tokens.*--budget-tokens/],
  [
    "the agent's day",
    capped({ perAgentDayUsd: 10 }),
    { trees: [], day: { all: 9, agent: 9, user: 9 } },
    /The agent claude has used \$10\.00 today/,
  ],
  [
    "the user's day",
    capped({}, { userDayUsd: 2 }),
    { trees: [], day: { all: 1, agent: 0, user: 1 } },
    /tasks of ada have used \$2\.00/,
  ],
  ['the day', capped({}, { dayUsd: 2 }), { trees: [], day: { all: 1, agent: 0, user: 0 } }, /\(budget\.day\).*tomorrow/],
  ['the month', capped({}, { monthUsd: 9 }), { trees: [], month: { all: 8 } }, /this month.*\(budget\.month\)/],
])('the cap of %s is kept', (_, caps, others, message) => {
  expect(overCap(spent(1, { inputTokens: 100, outputTokens: 10 }), others, caps)?.kind).toBe('over_budget')
  expect((overCap(spent(1, { inputTokens: 100, outputTokens: 10 }), others, caps) as { message: string }).message).toMatch(
    message,
  )
})

test('one turn more than allowed is the end of its turns, and not of its money', () => {
  expect(overCap(spent(0, { turns: 3 }), alone, capped({ turns: 3 }))).toBeUndefined()
  expect(overCap(spent(0, { turns: 4 }), alone, capped({ turns: 3 }))).toMatchObject({ kind: 'limit', category: 'max_turns' })
})

test('a budget of nothing allows what costs nothing', () => {
  expect(overCap(spent(0), alone, capped({ usd: 0 }))).toBeUndefined()
  expect(overCap(spent(0.0001), alone, capped({ usd: 0 }))).toMatchObject({ kind: 'over_budget' })
})

test('what is left is the least of all that is left', () => {
  const others = {
    trees: [tree({ budget: { usd: 5, wallMs: 1000 }, countedUsd: 1, ranMs: 400 }), tree({ budget: { usd: 3 }, countedUsd: 2.5 })],
  }
  expect(leftUsd(others, capped({ usd: 5, perRunUsd: 2 }))).toBeCloseTo(0.5)
  expect(leftMs(others, capped({}))).toBe(600)
  expect(leftUsd(alone, capped({}))).toBeUndefined()
})

test('whoever stops at the first figure over a cap exceeds it by less than that one call', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { maxLength: 60 }),
      fc.double({ min: 0.01, max: 20, noNaN: true }),
      (calls, cap) => {
        let sum = 0
        for (const call of calls) {
          if (overCap(spent(sum), alone, capped({ usd: cap }))) break
          expect(sum).toBeLessThan(cap)
          sum += call
          expect(sum - cap).toBeLessThan(call + 1e-9)
        }
      },
    ),
  )
})

test.each([
  ['2026-11-15T00:30:00Z', 'UTC', '2026-11-15T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ['2026-11-15T23:30:00Z', 'Europe/Berlin', '2026-11-15T23:00:00.000Z', '2026-10-31T23:00:00.000Z'],
  // The clocks go back on the 25th of October, and forward on the 29th of March.
  ['2026-10-25T20:00:00Z', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-09-30T22:00:00.000Z'],
  ['2026-03-29T20:00:00Z', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-02-28T23:00:00.000Z'],
  // Clocks skip midnight itself.
  ['2026-09-06T12:00:00Z', 'America/Santiago', '2026-09-06T04:00:00.000Z', '2026-09-01T04:00:00.000Z'],
  ['2026-11-15T05:00:00Z', 'Asia/Kolkata', '2026-11-14T18:30:00.000Z', '2026-10-31T18:30:00.000Z'],
])('at %s in %s the day began at %s and the month at %s', (at, zone, day, month) => {
  const starts = periodStarts(Date.parse(at), zone)
  expect([starts.day.toISOString(), starts.month.toISOString()]).toEqual([day, month])
})
