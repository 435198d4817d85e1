import { expect, test } from 'vitest'
import { createCallOrder } from './call-order.ts'
import type { ModelEvent } from './model-event.ts'

const call = (index: number): ModelEvent => ({ type: 'tool_call', index, id: `c${index}`, name: 'a' })
const input = (index: number, json: string): ModelEvent => ({ type: 'tool_input', index, json })
const end: ModelEvent = { type: 'end', reason: 'tool_calls' }
const ordered = (events: readonly ModelEvent[]) => events.flatMap(createCallOrder())

test('calls that come one after another go on at once', () => {
  const events = [call(0), input(0, '{"a":'), input(0, '1}'), call(1), input(1, '{}'), end]
  const inOrder = createCallOrder()
  expect(events.map((event) => inOrder(event).length)).toEqual([1, 1, 1, 1, 1, 1])
})

test('a call that begins before the one before it is whole waits for it', () => {
  const inOrder = createCallOrder()
  const steps = [call(0), call(1), call(2), input(1, '{"b":'), input(0, '{"a":1'), input(2, '{}'), input(1, '2}'), input(0, '}')]
  expect(steps.map((event) => inOrder(event))).toEqual([
    [call(0)],
    [],
    [],
    [],
    [input(0, '{"a":1')],
    [],
    [],
    [input(0, '}'), call(1), input(1, '{"b":'), input(1, '2}'), call(2), input(2, '{}')],
  ])
})

test('a call that was let go while it is not whole is filled before the next', () => {
  const events = [call(0), call(1), call(2), input(2, '{}'), input(0, '{}'), input(1, '{"b":'), input(1, '1}'), end]
  expect(ordered(events)).toEqual([
    call(0),
    input(0, '{}'),
    call(1),
    input(1, '{"b":'),
    input(1, '1}'),
    call(2),
    input(2, '{}'),
    end,
  ])
})

test('nothing is lost of calls that never become whole', () => {
  const events = [call(0), call(1), input(0, '{"a":'), input(1, '{"b":'), end]
  expect(ordered(events)).toEqual([call(0), input(0, '{"a":'), call(1), input(1, '{"b":'), end])
})

test('counts pass by, and words end the calls before them', () => {
  const usage: ModelEvent = {
    type: 'usage',
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  }
  const text: ModelEvent = { type: 'text', text: 'So.' }
  expect(ordered([call(0), call(1), usage, text])).toEqual([call(0), usage, call(1), text])
})
