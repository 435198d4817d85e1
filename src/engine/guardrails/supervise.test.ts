import { expect, test } from 'vitest'
import { HandClock } from '../../../test/engine/test-clock.ts'
import { silentLog } from '../../base/log.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import { noUsage } from '../../domain/money/cost.ts'
import { createPrices } from '../../domain/money/prices.ts'
import { defaultGuardrails } from '../../domain/run/guardrails.ts'
import type { Booking } from '../../store/ledger.ts'
import { Watch } from '../base/watch.ts'
import type { Meter } from '../money/meter.ts'
import { superviseRun } from './supervise.ts'

/** A run whose journal stores at once, or when it is told to. */
function supervised(limits: Partial<typeof defaultGuardrails> = {}, stored?: Promise<void>, throughGateway = false) {
  const clock = new HandClock()
  const watch = new Watch(clock, { totalMs: null, idleMs: null })
  const recorded: { event: NewEvent; booking?: Booking | undefined }[] = []
  const recordEvent = (event: NewEvent, booking?: Booking) => {
    recorded.push({ event, booking })
    return stored
  }
  const note = (code: string, detail: string) => recordEvent({ type: 'run.noted', data: { code, detail } })
  const voice = { watch, log: silentLog, recordEvent, note, hide: () => undefined, keepChanges: () => undefined }
  const guardrails = { ...defaultGuardrails, ...limits, models: {} }
  const meter = countingMeter()
  const supervision = superviseRun({ voice, meter, clock, guardrails, model: undefined, throughGateway })
  return { supervision, watch, recorded, clock, meter }
}

/** Counts, prices at a dollar for a token, and holds nobody to anything. */
function countingMeter(): Meter {
  const prices = createPrices({ '*': { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0 } }, {})
  let usage = noUsage
  let isTold = false
  return {
    begin: async () => undefined,
    take({ usage: used, ...data }) {
      usage = { ...usage, inputTokens: usage.inputTokens + used.inputTokens, turns: usage.turns + used.turns }
      isTold = true
      const { usd, countedUsd, known } = prices.cost('m', used, data.costUsd)
      const who = { rootId: 't', agent: 'a', account: '', user: 'u', model: 'm' }
      return { data: { ...data, usage: used, known }, booking: { ...used, ...who, costUsd: usd, countedUsd, known } }
    },
    called(used) {
      usage = { ...usage, inputTokens: usage.inputTokens + used.inputTokens, turns: usage.turns + used.turns }
      isTold = true
    },
    turned: () => undefined,
    get usage() {
      return isTold ? usage : undefined
    },
    leftUsd: undefined,
    close: () => undefined,
  }
}
const says = (text: string) => ({ type: 'agent.message', data: { text } }) as const
const used = (inputTokens: number) => ({ type: 'agent.usage', data: { usage: { ...noUsage, inputTokens, turns: 1 } } }) as const

test('an agent that tells more than can be stored waits for the journal', async () => {
  const journal = Promise.withResolvers<void>()
  const { supervision } = supervised({}, journal.promise)
  let isThrough = false
  const emitted = Promise.resolve(supervision.emit(says('x'))).then(() => {
    isThrough = true
  })
  await new Promise(setImmediate)
  expect(isThrough).toBe(false)
  journal.resolve()
  await emitted
  expect(isThrough).toBe(true)
})

test('a flood stops the run, and says so', async () => {
  const { supervision, watch, clock } = supervised({ eventsPerSecond: 20 })
  for (let second = 0; second < 11 && !watch.reason; second++) {
    for (let n = 0; n < 25; n++) void supervision.emit(says('x'))
    clock.advance(1_000)
  }
  expect(watch.reason).toMatchObject({
    kind: 'tripped',
    message: expect.stringContaining('more than 20 things in each of ten seconds'),
  })
})

test('a stopped run whose program kept nothing keeps what was seen of it', async () => {
  const { supervision, watch, recorded } = supervised()
  await supervision.emit(says('half of it'))
  await supervision.emit(used(5))
  watch.stop({ kind: 'tripped', message: 'x' })
  const verdict = await supervision.complete({ outcome: 'failed', text: '' })
  expect(verdict).toMatchObject({ text: 'half of it', usage: { inputTokens: 5, turns: 1 } })
  expect(recorded.map(({ booking }) => booking?.countedUsd)).toEqual([undefined, 5])
})

test('what only the verdict tells is booked too, and a verdict that tells less than was seen lowers nothing', async () => {
  const more = supervised()
  await more.supervision.emit(used(5))
  await more.supervision.complete({ outcome: 'succeeded', text: 'x', usage: { ...noUsage, inputTokens: 8, turns: 1 } })
  expect(more.recorded.map(({ booking }) => booking?.inputTokens)).toEqual([5, 3])
  const less = supervised()
  await less.supervision.emit(used(5))
  const verdict = await less.supervision.complete({
    outcome: 'succeeded',
    text: 'x',
    costUsd: 0,
    usage: { ...noUsage, inputTokens: 2 },
  })
  expect(verdict).toMatchObject({ usage: { inputTokens: 5 }, costUsd: undefined })
  expect(less.recorded).toHaveLength(1)
})

test('of a run through the gateway, what the program says it used is neither recorded nor believed', async () => {
  const { supervision, recorded, meter } = supervised({}, undefined, true)
  await supervision.emit(used(1_000))
  meter.called({ ...noUsage, inputTokens: 7, turns: 1 }, 7)
  const verdict = await supervision.complete({
    ...{ outcome: 'succeeded', text: 'done', costUsd: 99 },
    usage: { ...noUsage, inputTokens: 5_000, turns: 9 },
  })
  expect(recorded).toEqual([])
  expect(verdict).toMatchObject({ usage: { inputTokens: 7, turns: 1 } })
  expect(verdict.costUsd).toBeUndefined()
})

test('each thing that a flooding agent says costs next to nothing, and its last words are kept', async () => {
  const { supervision, watch } = supervised({ eventsPerSecond: 0 })
  const startedAt = performance.now()
  for (let n = 0; n < 200_000; n++) void supervision.emit(says(`line ${n}`))
  // A copy of all that is kept, for each of them, took a hundred times as long.
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  watch.stop({ kind: 'tripped', message: 'x' })
  const { text } = await supervision.complete({ outcome: 'failed', text: '' })
  expect(text).toMatch(/line 199998\nline 199999$/)
  expect(text.length).toBeLessThanOrEqual(262_144)
})
