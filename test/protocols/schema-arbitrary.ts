import fc from 'fast-check'

/** A JSON schema as our OpenAPI document writes them. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly additionalProperties?: Schema | boolean
}

type Components = Readonly<Record<string, Schema>>

/** Values that break things where nobody thought of them. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '-rf',
    '--',
    '\u0000',
    '../../etc/passwd',
    '$(x)',
    '%00',
    '\u202e',
    '\ud800',
    '__proto__',
    'constructor',
    'x'.repeat(5_000),
  ),
  fc.constantFrom(-1, 0, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308),
  fc.constantFrom(null, true, false, [], {}, [[[]]]),
  fc.jsonValue({ maxDepth: 3 }),
)

/** What fits a schema, as far as fitting can be told from it. */
export function fitting(schema: Schema, components: Components, depth = 0): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fitting(components[schema.$ref.split('/').at(-1)!] ?? {}, components, depth + 1)
  if (depth > 6) return fc.constant(null)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either) return fc.oneof(...either.map((one) => fitting(one, components, depth + 1)))
  const types = [schema.type ?? []].flat()
  return types.length === 0
    ? fc.jsonValue({ maxDepth: 2 })
    : fc.oneof(...types.map((type) => ofType(type, schema, components, depth)))
}

function ofType(type: string, schema: Schema, components: Components, depth: number): fc.Arbitrary<unknown> {
  const { minimum = -1_000, maximum = 1_000 } = schema
  switch (type) {
    case 'string':
      return schema.pattern === undefined
        ? fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 40, 40) })
        : fc.stringMatching(new RegExp(schema.pattern))
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) })
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(fitting(schema.items ?? {}, components, depth + 1), { maxLength: 3 })
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(
        ([key, inner]) => [key, fitting(inner, components, depth + 1)] as const,
      )
      return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] })
    }
    default:
      return fc.constant(null)
  }
}

/** What fits, what nearly fits (one field wrong, missing or too many), and what has nothing to do with it. */
export function around(schema: Schema, components: Components): fc.Arbitrary<unknown> {
  const right = fitting(schema, components)
  const near = fc.tuple(right, hostile, fc.nat(), fc.constantFrom('wrong', 'missing', 'more')).map(([value, bad, which, how]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad
    const keys = Object.keys(value)
    const key = keys.length === 0 ? 'x' : keys[which % keys.length]!
    const { [key]: _, ...without } = value as Record<string, unknown>
    return how === 'missing' ? without : how === 'more' ? { ...value, [`${key}2`]: bad } : { ...value, [key]: bad }
  })
  return fc.oneof({ arbitrary: right, weight: 3 }, { arbitrary: near, weight: 5 }, { arbitrary: hostile, weight: 1 })
}
