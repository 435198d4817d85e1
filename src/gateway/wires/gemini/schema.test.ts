import { describe, expect, it } from 'vitest'
import { fromGeminiSchema, toGeminiSchema } from './schema.ts'

const ofProperty = (schema: object, rest: object = {}) =>
  (toGeminiSchema({ type: 'object', properties: { it: schema }, ...rest }) as { properties: { it: unknown } }).properties.it

describe('what Gemini takes of a JSON Schema', () => {
  it.each([
    ['types are written in capitals', { type: 'string' }, { type: 'STRING' }],
    ['a type or null may be null', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    ['several types are a choice', { type: ['string', 'integer'] }, { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] }],
    ['one constant is an enumeration of one', { const: 'only' }, { type: 'STRING', enum: ['only'] }],
    ['an empty text cannot be enumerated', { enum: ['a', ''] }, { type: 'STRING', enum: ['a'] }],
    [
      'numbers are enumerated in words',
      { type: 'integer', enum: [1, 2], description: 'Level.' },
      { type: 'INTEGER', description: 'Level. One of: 1, 2.' },
    ],
    ['a choice with null may be null', { anyOf: [{ type: 'number' }, { type: 'null' }] }, { type: 'NUMBER', nullable: true }],
    [
      'one of several is any of several',
      { oneOf: [{ type: 'number' }, { type: 'boolean' }], description: 'Either.' },
      { description: 'Either.', anyOf: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }] },
    ],
    [
      'all of several is one',
      { allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'string' } } }] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['a'] },
    ],
    ['a list of anything is one of texts', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }],
    [
      'a list whose places differ is one of any of them',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
    ],
    ['a format that it does not know is dropped', { type: 'string', format: 'uri' }, { type: 'STRING' }],
    ['a format that it knows is kept', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    [
      'other keywords are dropped',
      { type: 'object', additionalProperties: false, patternProperties: {}, $comment: 'x', examples: [{}] },
      { type: 'OBJECT' },
    ],
    [
      'only properties that there are can be required',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    ],
    [
      'anything is a choice of what there is',
      { description: 'Any.' },
      { description: 'Any.', anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] },
    ],
  ])('%s', (_, schema, reduced) => {
    expect(ofProperty(schema)).toEqual(reduced)
  })

  it('puts what is referred to in its place', () => {
    const $defs = { name: { type: 'string', pattern: '^a' } }
    const told = { $ref: '#/$defs/name', description: 'Its own.' }
    expect(ofProperty(told, { $defs })).toEqual({ type: 'STRING', pattern: '^a', description: 'Its own.' })
  })

  it.each([
    ['a reference', { $ref: '#/$defs/tree' }],
    ['a choice', { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] }],
    ['a part of a whole', { allOf: [{ $ref: '#/$defs/tree' }] }],
  ])('ends a schema that leads into itself by %s', (_, child) => {
    const $defs = { tree: { type: 'object', properties: { child } } }
    const text = JSON.stringify(toGeminiSchema({ $ref: '#/$defs/tree', $defs }))
    expect(text).not.toContain('$ref')
    expect(text.length).toBeLessThan(1000)
  })

  it('stays small where schemas refer to each other in many ways', () => {
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
    const refer = () => ({ type: 'object', properties: { a: { $ref: '#/$defs/s0' }, b: { $ref: '#/$defs/s1' } } })
    const $defs = Object.fromEntries(names.map((name) => [name, refer()]))
    expect(JSON.stringify(toGeminiSchema({ $ref: '#/$defs/s5', $defs })).length).toBeLessThan(10_000)
  })

  it('says nothing of a tool that takes nothing', () => {
    expect(toGeminiSchema({ type: 'object', properties: {}, additionalProperties: false })).toBeUndefined()
  })
})

it("reads Gemini's words as JSON Schema", () => {
  const own = {
    type: 'OBJECT',
    properties: { list: { type: 'ARRAY', items: { type: 'STRING', nullable: true }, minItems: '2' } },
    propertyOrdering: ['list'],
    required: ['list'],
  }
  expect(fromGeminiSchema(own)).toEqual({
    type: 'object',
    properties: { list: { type: 'array', items: { type: ['string', 'null'] }, minItems: 2 } },
    required: ['list'],
  })
})
