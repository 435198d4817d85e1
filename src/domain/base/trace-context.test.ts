import { expect, test } from 'vitest'
import { readTraceparent, traceContextOf, writeTraceparent } from './trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const traceparent = `00-${trace}-${span}-01`

test('a context is read from headers, plain objects and metadata that lists its values', () => {
  const expected = { traceparent, tracestate: 'a=1,b=2' }
  expect(traceContextOf(new Headers({ traceparent, tracestate: 'a=1,b=2' }))).toEqual(expected)
  expect(traceContextOf({ Traceparent: traceparent, tracestate: 'a=1,b=2' })).toEqual(expected)
  expect(traceContextOf(new Map([['traceparent', [traceparent]]]))).toEqual({ traceparent })
  expect(traceContextOf({ 'x-other': 1, traceparent })).toEqual({ traceparent })
})

test('a later version is read as far as it is known, and what is malformed is none', () => {
  expect(traceContextOf({ traceparent: `01-${trace}-${span}-01-more` })).toEqual({ traceparent })
  for (const bad of [
    '',
    'nonsense',
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
  ])
    expect(traceContextOf({ traceparent: bad }), bad).toBeUndefined()
  expect(traceContextOf({ traceparent: [traceparent, traceparent] })).toBeUndefined()
  expect(traceContextOf({ traceparent, tracestate: 'x'.repeat(513) })).toEqual({ traceparent })
  expect(traceContextOf(undefined)).toBeUndefined()
})

test('what is read is written again', () => {
  expect(readTraceparent(traceparent)).toEqual({ traceId: trace, spanId: span, isSampled: true })
  expect(writeTraceparent(readTraceparent(traceparent))).toBe(traceparent)
  expect(readTraceparent(`00-${trace}-${span}-00`).isSampled).toBe(false)
})
