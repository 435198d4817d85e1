import { describe, expect, test } from 'vitest'
import type { Verdict } from '../agent.ts'
import { assertSchema, checkAnswer } from './structured-output.ts'

const schema = { type: 'object', properties: { port: { type: 'number' } }, required: ['port'], additionalProperties: false }
const said = (text: string): Verdict => ({ outcome: 'succeeded', text })

describe('an answer that was asked for in a form', () => {
  test.each([
    ['plain JSON', '{"port":80}', '{"port":80}'],
    ['JSON with space around it', '\n {"port":80} \n', '{"port":80}'],
    ['JSON in a fence, with words around it', 'Here it is:\n```json\n{"port":80}\n```\nDone.', '{"port":80}'],
    ['JSON in a fence without a name, on several lines', '``` \t\n{\n"port":80\n}\n```  ', '{\n"port":80\n}'],
    ['JSON in a fence beside one of another language', '```js\nlisten(80)\n\n```json\n{"port":80}\n```', '{"port":80}'],
    ['JSON in a fence, before one that is not closed', '```\n{"port":80}\n```\n```json\n{"port":81}', '{"port":80}'],
  ])('is taken as %s', (_, text, kept) => {
    expect(checkAnswer(schema, said(text))).toEqual({ outcome: 'succeeded', text: kept })
  })

  test.each([
    ['no JSON', 'port 80', /it is no JSON/],
    ['of another form', '{"port":"eighty"}', /port: .*number/],
    ['in two fences', '```\n{"port":80}\n```\n```\n{"port":81}\n```', /it is no JSON/],
    ['in a fence that is not closed', '```json\n{"port":80}', /it is no JSON/],
    ['in a fence that is closed within a line', '```json\n{"port":80}```\n', /it is no JSON/],
    ['with more than was asked for', '{"port":80,"host":"x"}', /host/],
  ])('is no success when it is %s, and is kept all the same', (_, text, message) => {
    const verdict = checkAnswer(schema, said(text))
    expect(verdict).toMatchObject({ outcome: 'failed', category: 'invalid_output', text })
    expect(verdict.message).toMatch(message)
  })

  test('is not looked at when the run failed, or when no form was asked for', () => {
    const failed: Verdict = { outcome: 'failed', category: 'network', text: 'half' }
    expect(checkAnswer(schema, failed)).toBe(failed)
    const plain = said('anything')
    expect(checkAnswer(null, plain)).toBe(plain)
  })
})

test('an answer full of fences takes little longer to look at than another', () => {
  const length = 256 * 1024
  // The best of several: what the machine does besides only ever adds.
  const costOf = (piece: string) => {
    const verdict = said(piece.repeat(length / piece.length))
    const costs = Array.from({ length: 5 }, () => {
      const startedAt = performance.now()
      checkAnswer(schema, verdict)
      return performance.now() - startedAt
    })
    return Math.min(...costs)
  }
  const harmless = costOf('a line\nof text\n')
  for (const piece of ['```json\n', '```\n', '```', '```\n```json\n', '```json  \n', '``` ', '\n'])
    expect({ piece, isCheap: costOf(piece) < 20 * harmless }).toEqual({ piece, isCheap: true })
})

test('a schema that cannot be checked is refused before any work is done for it', () => {
  expect(() => assertSchema(schema)).not.toThrow()
  expect(() => assertSchema({ type: 'nonsense' })).toThrow(/no JSON schema that can be checked/)
})
