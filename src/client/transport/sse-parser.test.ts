import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type SseMessage, SseParser } from './sse-parser.ts'

const parse = (...pieces: string[]) => {
  const parser = new SseParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

const stream = 'retry: 1000\n\nid: 1\ndata: {"a":"ä€😀"}\n\n: beat\n\nid: 2\ndata: one\ndata:two\n\n'
const expected: SseMessage[] = [{ id: '1', data: '{"a":"ä€😀"}' }, { comment: 'beat' }, { id: '2', data: 'one\ntwo' }]

test('events, comments and several data lines are read', () => {
  expect(parse(stream)).toEqual(expected)
})

test('lines may end with LF, CRLF or CR', () => {
  expect(parse(stream.replaceAll('\n', '\r\n'))).toEqual(expected)
  // A CR at the very end waits for a possible LF, so one more line must begin.
  expect(parse(stream.replaceAll('\n', '\r'), ':')).toEqual(expected)
})

test('the same messages come out however the text is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length * 2)), fc.boolean(), (cuts, crlf) => {
      const text = crlf ? stream.replaceAll('\n', '\r\n') : stream
      const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
      const pieces = places.slice(1).map((end, i) => text.slice(places[i], end))
      expect(parse(...pieces)).toEqual(expected)
    }),
  )
})

test('an event that was cut off is not told', () => {
  expect(parse('id: 1\ndata: whole\n\nid: 2\ndata: ha')).toEqual([{ id: '1', data: 'whole' }])
  expect(parse('id: 1\ndata: no empty line yet\n')).toEqual([])
})

test('a field without a colon, an unknown field and an empty data line do no harm', () => {
  expect(parse('data\nfoo: bar\nid:7\n\n')).toEqual([{ id: '7', data: '' }])
})

test('a line of 20 MB in small pieces is read in linear time', () => {
  const piece = 'x'.repeat(4 * 1024)
  const startedAt = performance.now()
  const [message] = parse('data: ', ...Array<string>(5_120).fill(piece), '\n\n')
  expect(message && 'data' in message && message.data.length).toBe(5_120 * piece.length)
  expect(performance.now() - startedAt).toBeLessThan(8_000)
})
