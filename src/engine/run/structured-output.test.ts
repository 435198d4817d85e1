import { describe, expect, test } from 'vitest'
import { withLoopDelay } from '../../../test/loop-delay.ts'
import type { Verdict } from '../../agents/port.ts'
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
  ])('is taken as %s', async (_, text, kept) => {
    expect(await checkAnswer(schema, said(text))).toEqual({ outcome: 'succeeded', text: kept })
  })

  test.each([
    ['no JSON', 'port 80', /it is no JSON/],
    ['of another form', '{"port":"eighty"}', /port: .*number/],
    ['in two fences', '```\n{"port":80}\n```\n```\n{"port":81}\n```', /it is no JSON/],
    ['in a fence that is not closed', '```json\n{"port":80}', /it is no JSON/],
    ['in a fence that is closed within a line', '```json\n{"port":80}```\n', /it is no JSON/],
    ['with more than was asked for', '{"port":80,"host":"x"}', /host/],
  ])('is no success when it is %s, and is kept all the same', async (_, text, message) => {
    const verdict = await checkAnswer(schema, said(text))
    expect(verdict).toMatchObject({ outcome: 'failed', category: 'invalid_output', text })
    expect(verdict.message).toMatch(message)
  })

  test('is not looked at when the run failed, or when no form was asked for', async () => {
    const failed: Verdict = { outcome: 'failed', category: 'network', text: 'half' }
    expect(await checkAnswer(schema, failed)).toBe(failed)
    const plain = said('anything')
    expect(await checkAnswer(null, plain)).toBe(plain)
  })
})

/** A check has 5 s on a thread of its own; this thread must not notice. Generous, as other tests share the processor. */
const mostBlockedMs = 500
const levels = (count: number, level: (n: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`l${n}`, level(n)]))
/** Which limit is met first, time or memory, depends on the machine. */
const tooMuch = /could not be checked .*(longer than|too much memory)/
/** Each level asks for the next one twice: 2^40 checks for one number. */
const refBomb = {
  $defs: {
    ...levels(40, (n) => ({ allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] })),
    l40: { type: 'number' },
  },
  $ref: '#/$defs/l0',
}
/** The same by the depth of the answer. */
const branch = { properties: { a: { $ref: '#' } } }
const dataBomb = { type: 'object', anyOf: [branch, branch] }
const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test.each([
  [
    'a pattern that backtracks',
    { type: 'string', pattern: '^(a+)+$' },
    JSON.stringify(`${'a'.repeat(100_000)}!`),
    /must match pattern/,
  ],
  [
    'the same for the names of properties',
    { patternProperties: { '^(a+)+$': false } },
    `{"${'a'.repeat(100_000)}!":1}`,
    undefined,
  ],
  ['the same below propertyNames', { propertyNames: { pattern: '^(a|a)*$' } }, `{"${'a'.repeat(100_000)}!":1}`, /pattern/],
  ['references that double at each level', refBomb, '1', tooMuch],
  ['alternatives that double with each level of the answer', dataBomb, deep(60), tooMuch],
  [
    '100,000 items that must differ',
    { uniqueItems: true },
    JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n }))),
    tooMuch,
  ],
  ['an answer of 100,000 levels', dataBomb, deep(100_000), /could not be checked|stack/],
  ['a million fences', schema, '```json\n'.repeat(1_000_000), /it is no JSON/],
])('a check of %s keeps nobody waiting', { timeout: 60_000 }, async (_, given, text, message) => {
  const { result, blockedMs } = await withLoopDelay(() => checkAnswer(given, said(text)))
  expect(blockedMs).toBeLessThan(mostBlockedMs)
  if (message === undefined) return expect(result.outcome).toBe('succeeded')
  expect(result).toMatchObject({ outcome: 'failed', category: 'invalid_output' })
  expect(result.message).toMatch(message)
})

describe('a schema is refused before any work is done for it', () => {
  const huge = {
    anyOf: Array.from({ length: 300 }, (_, n) => ({ properties: { [`p${n}`]: { const: n } }, required: [`p${n}`] })),
  }
  test.each([
    ['it is none', { type: 'nonsense' }, /no JSON schema that can be checked/],
    ['it looks ahead', { pattern: '(?=a)b' }, /"\(\?=a\)b" cannot be used: it looks ahead or behind/],
    ['it looks behind', { patternProperties: { '(?<!a)b': {} } }, /"\(\?<!a\)b" cannot be used: it looks ahead or behind/],
    ['it refers back', { items: { pattern: '(a)\\1' } }, /refers back/],
    ['it refers back by a name', { pattern: '(?<n>a)\\k<n>' }, /refers back/],
    ['it repeats too much', { pattern: '(a?){1000}'.repeat(100) }, /too large/],
    ['it would never be held against anything', { $async: true, type: 'number' }, /\$async/],
    ['it names another schema that is not in it', { $ref: 'http://127.0.0.1/schema.json' }, /can't resolve/],
    ['it is too long', { description: 'x'.repeat(300_000) }, /more than 262144 characters/],
    ['it is too deep', JSON.parse(deep(100_000)), /no JSON schema that can be checked/],
  ])('when %s', async (_, given, message) => {
    const { result, blockedMs } = await withLoopDelay(() => assertSchema(given).catch((error: unknown) => error))
    expect(result).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
    expect(blockedMs).toBeLessThan(mostBlockedMs)
  })

  test('and taken otherwise, even a large one, without holding up others', { timeout: 60_000 }, async () => {
    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string', format: 'email' }] }
    const { blockedMs } = await withLoopDelay(async () => {
      for (const given of [schema, draft7, huge]) await assertSchema(given)
    })
    expect(blockedMs).toBeLessThan(mostBlockedMs)
    expect(await checkAnswer(draft7, said('["a@b.example"]'))).toMatchObject({ outcome: 'succeeded' })
    expect(await checkAnswer(draft7, said('["nobody"]'))).toMatchObject({ outcome: 'failed', message: /email/ })
  })
})
