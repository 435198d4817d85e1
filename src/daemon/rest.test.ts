import { expect, test } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { createRest } from './rest.ts'

/** Time that passes when it is told to, with room for one timer. */
function handClock(): Clock & { pass(ms: number): void } {
  let now = 0
  let due: { at: number; fn: () => void } | undefined
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      due = timer
      return () => {
        if (due === timer) due = undefined
      }
    },
    pass(ms) {
      for (const end = now + ms; now < end; now++)
        if (due && due.at <= now) {
          const { fn } = due
          due = undefined
          fn()
        }
    },
  }
}

test('memory is given back once after each time of work, and never in the middle of one, nor while an agent is at work', () => {
  const clock = handClock()
  const asked: unknown[] = []
  const collect = Object.assign((how: unknown) => void asked.push(how), {}) as unknown as typeof globalThis.gc
  let isBusy = false
  const rest = createRest({ clock, isBusy: () => isBusy, collect })!
  clock.pass(50_000)
  for (let i = 0; i < 20; i++) {
    rest.stir()
    clock.pass(10_000)
  }
  expect(asked).toEqual([])
  clock.pass(60_000)
  expect(asked).toEqual([expect.objectContaining({ type: 'major' })])
  clock.pass(600_000)
  expect(asked).toHaveLength(1)
  rest.stir()
  clock.pass(61_000)
  expect(asked).toHaveLength(2)
  rest.stir()
  isBusy = true
  clock.pass(600_000)
  expect(asked).toHaveLength(2)
  isBusy = false
  clock.pass(61_000)
  expect(asked).toHaveLength(3)
  rest.stir()
  rest.stop()
  clock.pass(61_000)
  expect(asked).toHaveLength(3)
})

test('a process that may not collect is left alone', () => {
  expect(createRest({ clock: handClock(), isBusy: () => false })).toBe(undefined)
})
