import { describe, expect, it } from 'vitest'
import { aloneMsOf, type Suspect } from '../../domain/task/suspect.ts'
import { isHeld, suspicionAfter } from './suspicion.ts'

const at = new Date(Date.UTC(2030, 0, 1))
const death = { worker: 'w_2', host: 'mars', lastedMs: 90_000 }
const suspect: Suspect = { since: 'before', worker: 'w_1', host: 'venus', lastedMs: 5_000, deaths: 2, lostAlone: [5_000] }
const lost = { outcome: 'lost', text: '' } as const

describe('the suspicion against a task', () => {
  it('begins when its worker dies after its program has started, and that death alone counts for nothing yet', () => {
    const begun = suspicionAfter(lost, null, { death, hasStarted: true, wasAlone: false }, at)
    expect(begun).toEqual({ since: at.toISOString(), ...death, deaths: 1, lostAlone: [] })
    expect(isHeld(begun)).toBe(false)
  })

  it('is not touched by a run whose program had not started, or by a loss that was no death', () => {
    for (const before of [null, suspect]) {
      expect(suspicionAfter(lost, before, { death, hasStarted: false, wasAlone: true }, at)).toEqual(before)
      expect(suspicionAfter(lost, before, { hasStarted: true, wasAlone: true }, at)).toEqual(before)
      expect(suspicionAfter({ outcome: 'interrupted', text: '' }, before, { hasStarted: false, wasAlone: true }, at)).toEqual(
        before,
      )
    }
  })

  it('counts a death while the task was alone, and holds it at the second', () => {
    const beside = suspicionAfter(lost, suspect, { death, hasStarted: true, wasAlone: false }, at)
    expect(beside).toMatchObject({ ...death, lostAlone: [5_000] })
    const alone = suspicionAfter(lost, suspect, { death, hasStarted: true, wasAlone: true }, at)
    expect(alone).toMatchObject({ ...death, deaths: 3, lostAlone: [5_000, 90_000] })
    expect([isHeld(beside), isHeld(alone)]).toEqual([false, true])
  })

  it.each(['succeeded', 'failed', 'timed_out', 'blocked', 'cancelled', 'interrupted', 'empty'] as const)(
    'ends when a run of the task has %s by itself',
    (outcome) => {
      expect(suspicionAfter({ outcome, text: '' }, suspect, { hasStarted: true, wasAlone: true }, at)).toBeNull()
    },
  )

  it('asks for twice as long alone as the lost run had lasted, at least a minute, and more than a quarter of an hour only after more deaths', () => {
    const minutes = (deaths: number, ...lasted: number[]) =>
      lasted.map((minute) => aloneMsOf({ deaths, lastedMs: minute * 60_000 }) / 60_000)
    expect(minutes(1, 0, 0.4, 5, 180)).toEqual([1, 1, 10, 15])
    expect([2, 3, 4].flatMap((deaths) => minutes(deaths, 180))).toEqual([60, 240, 360])
  })
})
