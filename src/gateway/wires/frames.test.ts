import { expect, test } from 'vitest'
import { createFrameSplitter, ndjsonFrame, sseFrame } from './frames.ts'
import type { Frame } from './wire.ts'

/** Pushed in the given pieces, then ended. */
function split(framing: 'sse' | 'ndjson', pieces: readonly Uint8Array[], options = {}): Frame[] {
  const splitter = createFrameSplitter(framing, options)
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()]
}

const bytes = (text: string) => Buffer.from(text, 'utf8')

const stream = [
  ': a comment\n\n',
  'event: first\ndata: {"text":"grüße 🦉"}\n\n',
  'data:{"no":"space"}\r\n\r\n',
  'id: 7\nretry: 10\ndata: one\ndata: two\ndata\n\n',
  'event: no data\n\n',
  'data: with a lone return\r\r',
  'data: [DONE]\n\n',
].join('')

const frames: Frame[] = [
  { event: 'first', data: '{"text":"grüße 🦉"}' },
  { data: '{"no":"space"}' },
  { data: 'one\ntwo\n' },
  { data: 'with a lone return' },
  { data: '[DONE]' },
]

test('a stream of events gives the same frames wherever it is cut in two', () => {
  const whole = bytes(stream)
  for (let at = 0; at <= whole.length; at++)
    expect(split('sse', [whole.subarray(0, at), whole.subarray(at)]), `at ${at}`).toEqual(frames)
})

test('a stream that comes byte by byte gives the same frames', () => {
  expect(
    split(
      'sse',
      [...bytes(stream)].map((byte) => Buffer.of(byte)),
    ),
  ).toEqual(frames)
})

test('a byte order mark before the first event is no part of it', () => {
  expect(split('sse', [bytes('\ufeffdata: {}\n\n')])).toEqual([{ data: '{}' }])
})

test('lines of JSON are split at newlines alone, wherever they are cut', () => {
  const whole = bytes('{"a":"ü"}\r\n\n{"b":"\u2028"}\n{"c":1}')
  const expected = [{ data: '{"a":"ü"}\r' }, { data: '{"b":"\u2028"}' }, { data: '{"c":1}' }]
  for (let at = 0; at <= whole.length; at++)
    expect(split('ndjson', [whole.subarray(0, at), whole.subarray(at)])).toEqual(expected)
})

test('what a cut connection leaves of an event is no event', () => {
  expect(split('sse', [bytes('data: {"a":1}\n\ndata: {"b":')])).toEqual([{ data: '{"a":1}' }])
  expect(split('ndjson', [bytes('{"a":1}\n{"b":')])).toEqual([{ data: '{"a":1}' }])
})

test('a last event without the empty line after it is an event', () => {
  expect(split('sse', [bytes('data: {"a":1}\n\ndata: [DONE]')])).toEqual([{ data: '{"a":1}' }, { data: '[DONE]' }])
})

test('an event over the limit is refused with what to know, or left out where it only passes', () => {
  const long = bytes(`data: ${'x'.repeat(100)}\n\ndata: {}\n\n`)
  expect(() => split('sse', [long], { maxChars: 50 })).toThrow('The provider sent an event of more than 50 characters')
  expect(split('sse', [long], { maxChars: 50, tooLong: 'skip' })).toEqual([{ data: '{}' }])
  const pieces = [...long].map((byte) => Buffer.of(byte))
  expect(split('sse', pieces, { maxChars: 50, tooLong: 'skip' })).toEqual([{ data: '{}' }])
})

test('a line that never ends is held only up to the limit', () => {
  const splitter = createFrameSplitter('sse', { maxChars: 1000 })
  splitter.push(bytes(`data: ${'x'.repeat(900)}`))
  expect(() => splitter.push(bytes('x'.repeat(200)))).toThrow('more than 1000 characters')
})

test('many lines of one event count together', () => {
  expect(() => split('sse', [bytes('data: xxxxxxxxxx\n'.repeat(20))], { maxChars: 100 })).toThrow('more than 100 characters')
})

test('what is written is what is read', () => {
  const data = { text: 'a\r\nb\u2028c' }
  expect(split('sse', [bytes(sseFrame(data, 'said')), bytes(sseFrame(data))])).toEqual([
    { event: 'said', data: JSON.stringify(data) },
    { data: JSON.stringify(data) },
  ])
  expect(split('ndjson', [bytes(ndjsonFrame(data))])).toEqual([{ data: JSON.stringify(data) }])
})
