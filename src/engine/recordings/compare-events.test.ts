import { expect, test } from 'vitest'
import { normaliser } from '../../gateway/recordings/normalise.ts'
import { compareEvents } from './compare-events.ts'

const normalise = normaliser([])
const said = (text: string) => ({ type: 'agent.message', data: { text } })
const ended = (outcome: string, durationMs: number) => ({ type: 'run.ended', data: { outcome, durationMs, costUsd: durationMs } })
const started = (worker: string) => ({ type: 'run.started', data: { worker } })

test('runs that said the same at other times, on other machines and at another price are the same', () => {
  const one = [started('w_1'), said('done at 2026-11-15T10:00:00Z'), ended('succeeded', 10)]
  const other = [started('w_2'), { type: 'run.noted', data: {} }, said('done at 2026-12-24T11:30:00Z'), ended('succeeded', 99)]
  expect(compareEvents(one, other, normalise)).toEqual({ recorded: 2, replayed: 2, difference: null })
})

test('the first event that differs is told with its place', () => {
  const one = [said('a'), said('b'), ended('succeeded', 1)]
  expect(compareEvents(one, [said('a'), said('c'), ended('succeeded', 1)], normalise).difference).toEqual({
    number: 2,
    at: 'data.text',
    recorded: 'b',
    replayed: 'c',
  })
  expect(compareEvents(one, [said('a'), said('b')], normalise).difference).toMatchObject({ number: 3, replayed: '(nothing)' })
  expect(compareEvents(one, [said('a'), said('b'), ended('failed', 1)], normalise).difference).toMatchObject({
    at: 'data.outcome',
  })
})
