import { isObject } from '../../../domain/base/object.ts'
import { answers } from './answers.ts'
import { nouns } from './nouns.ts'
import { requests } from './requests.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly default?: Json
  readonly example?: Json
  readonly pattern?: string
  readonly format?: string
  readonly description?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}
export type Schemas = Readonly<Record<string, Schema>>

/** What fields of these names usually hold. Each is used only where its schema takes it. */
const words: Readonly<Record<string, Json>> = {
  agent: 'coder',
  name: 'flaky-tests',
  prompt: 'Fix the failing test',
  text: 'Which colour?',
  answer: 'green',
  detail: 'What, which one, and what to do.',
  comment: 'Please also add a test.',
  user: 'ada',
  by: 'ada',
  workspace: '/srv/shop',
  model: 'large',
  version: '0.1.0',
  url: 'https://example.org/',
  next: null,
}

/** Whatever an id begins with. */
const ids = 'abcdefghijklmnopqrstuvwxyz'
const moment = '2026-01-02T03:04:05.000Z'
const deepest = 6

export interface Operation {
  readonly method: string
  readonly path: string
  readonly schema: Schema
  readonly schemas: Schemas
}

/** An example for every request and answer of the API: from a small world where it has one, else made from the schema, so that none can be missing or wrong. */
export const requestExample = ({ method, path, schema, schemas }: Operation): Json =>
  completed(requests[`${method.toUpperCase()} ${path}`], schema, { schemas, key: '', depth: 0 })

export function answerExample({
  method,
  path,
  schema,
  schemas,
  status,
  type,
}: Operation & { status: string; type: string }): Json {
  const name = `${method.toUpperCase()} ${path} ${status}`
  return completed(answers[`${name} ${type}`] ?? answers[name], schema, { schemas, key: '', depth: 0 })
}

interface Place {
  readonly schemas: Schemas
  readonly key: string
  readonly depth: number
}

function sample(schema: Schema, place: Place): Json {
  const { key, depth } = place
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!
    return completed(nouns[name], place.schemas[name] ?? {}, { ...place, depth: depth + 1 })
  }
  if (schema.example !== undefined) return schema.example
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]!
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => sample(part, place))) as Json
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return sample(choiceOf(choices, place), place)
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  if (types.includes('null') && (depth >= deepest || words[key] === null)) return null
  switch (types.find((type) => type !== 'null')) {
    case 'string':
      return textOf(schema, key)
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? -1) + 1, schema.minimum === undefined ? 1 : 0)
    case 'boolean':
      return false
    case 'array':
      return schema.items && (depth < deepest || (schema.minItems ?? 0) > 0)
        ? [sample(schema.items, { ...place, depth: depth + 1 })]
        : []
    case 'object':
      return objectOf(schema, place)
    default:
      return types.includes('null') ? null : {}
  }
}

/** What the world says of it, with what its schema wants besides. */
function completed(told: Json | undefined, schema: Schema, place: Place): Json {
  if (told === undefined) return sample(schema, place)
  const shape = schema.$ref === undefined ? schema : (place.schemas[schema.$ref.split('/').at(-1)!] ?? {})
  if (!isObject(told)) return told
  const missing = (shape.required ?? []).filter((name) => !(name in told))
  const inner = { ...place, depth: place.depth + 1 }
  return { ...told, ...Object.fromEntries(missing.map((key) => [key, sample(shape.properties?.[key] ?? {}, { ...inner, key })])) }
}

/** The first that says something; the deeper, the sooner nothing is said. */
function choiceOf(choices: readonly Schema[], { depth, key }: Place): Schema {
  const nothing = choices.find(({ type }) => type === 'null')
  if (nothing && (depth >= deepest || words[key] === null)) return nothing
  return choices.find((choice) => choice !== nothing) ?? choices[0]!
}

function objectOf(schema: Schema, place: Place): Json {
  const required = new Set(schema.required)
  // An answer shows all that it may hold; what need not be there is left out only where it is deep inside.
  const shown = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name) || place.depth < 2)
  return Object.fromEntries(shown.map(([key, inner]) => [key, sample(inner, { ...place, key, depth: place.depth + 1 })]))
}

function textOf({ pattern, format, minLength = 0 }: Schema, key: string): string {
  if (format === 'date-time') return moment
  if (format === 'date') return moment.slice(0, 10)
  if (format === 'uri') return 'https://example.org/'
  const known = words[key]
  const candidates = [
    ...(typeof known === 'string' ? [known] : []),
    ...[...ids].map((kind) => `${kind}_1m7hb3qaj340h1e843`),
    ...[
      'example',
      'A',
      'example.pawl',
      '/srv/project',
      '1',
      'global',
      '0'.repeat(32),
      '0'.repeat(64),
      '12:00',
      'UTC',
      'A'.repeat(87),
      'A'.repeat(22),
    ],
  ]
  const fits = (text: string) => text.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(text))
  return (pattern === undefined ? [typeof known === 'string' ? known : 'text'] : candidates).find(fits) ?? 'text'
}
