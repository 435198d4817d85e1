import { expect, test } from 'vitest'
import type { ModelEvent } from '../wires/model-event.ts'
import { createStopper, stopped } from './stop-sequences.ts'

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const tail: ModelEvent[] = [
  { type: 'usage', usage },
  { type: 'end', reason: 'end' },
]

test('an answer ends where it was to end, however it is cut, and is still paid for', () => {
  const text = 'one two STOP three'
  for (let cut = 0; cut <= text.length; cut++) {
    const stop = createStopper(['NEVER', 'STOP'])
    const pieces = [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== '')
    const events = [...pieces.map((piece): ModelEvent => ({ type: 'text', text: piece })), ...tail].flatMap((event) =>
      stop([event]),
    )
    const said = events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
    expect(said.join('')).toBe('one two ')
    expect(events.slice(-2)).toEqual([
      { type: 'usage', usage },
      { type: 'end', reason: 'stop_sequence' },
    ])
  }
})

test('what only began like a stop is said all the same, before what follows it', () => {
  const stop = createStopper(['STOP'])
  const call: ModelEvent = { type: 'tool_call', index: 0, id: 'a', name: 'b' }
  const events: ModelEvent[] = [{ type: 'text', text: 'a ST' }, { type: 'text', text: 'ORM ST' }, call, ...tail]
  expect(stop(events)).toEqual([
    { type: 'text', text: 'a ' },
    { type: 'text', text: 'STORM ' },
    { type: 'text', text: 'ST' },
    call,
    ...tail,
  ])
})

test('a whole answer ends there too, without what came behind', () => {
  const parts = [
    { kind: 'text' as const, text: 'one STOP two' },
    { kind: 'tool_call' as const, id: 'a', name: 'b', input: {} },
  ]
  const answer = { id: 'i', model: 'm', parts, reason: 'tool_calls' as const }
  expect(stopped(answer, ['STOP'])).toEqual({ ...answer, parts: [{ kind: 'text', text: 'one ' }], reason: 'stop_sequence' })
  expect(stopped(answer, ['GO'])).toEqual(answer)
})
