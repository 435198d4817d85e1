import { createHash } from 'node:crypto'

/** A span as OTLP has it in JSON. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1 is internal, 3 is a client of somebody else. */
  readonly kind: 1 | 3
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status?: { readonly code: 2; readonly message?: string }
}

interface Attribute {
  readonly key: string
  readonly value:
    | { readonly stringValue: string }
    | { readonly intValue: string }
    | { readonly doubleValue: number }
    | { readonly boolValue: boolean }
}

export type Values = Readonly<Record<string, string | number | boolean | undefined>>

/** What is not known is left out. */
export const attributes = (values: Values): Attribute[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: wrapped(key, value) }]))

/** Numbers with a fraction, also where it happens to be none: a name has one type. */
const fractions = new Set(['gen_ai.response.time_to_first_chunk', 'pawl.cost_usd'])

function wrapped(key: string, value: string | number | boolean): Attribute['value'] {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) && !fractions.has(key) ? { intValue: String(value) } : { doubleValue: value }
}

/** Ids come from ours, so that whoever knows a task finds its trace, and a span that is sent twice is one. */
export const traceIdOf = (root: string) => digest(root, 32)
export const spanIdOf = (name: string) => digest(name, 16)
export const turnIdOf = (run: string) => spanIdOf(`${run} turn`)
const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length)

export const nanos = (ms: number) => `${Math.round(ms * 1_000)}000`
