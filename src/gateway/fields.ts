import { invalid } from '../domain/error.ts'
import type { JsonObject } from './model-request.ts'

// Clients are told which field is wrong; a provider's answer is read as far as it goes.

/** A field of a client's request as what it must be; null counts as absent. Throws a `PawlError` that names the field. */
export const given = {
  text: (value: unknown, field: string) => checked(value, field, 'a text', (it) => typeof it === 'string'),
  number: (value: unknown, field: string) => checked(value, field, 'a number', (it) => typeof it === 'number'),
  list: (value: unknown, field: string) => checked(value, field, 'a list', (it): it is readonly unknown[] => Array.isArray(it)),
  object: (value: unknown, field: string) => checked(value, field, 'an object', isObject),
}

/** A field that must be there. */
export function required<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw invalid(`The request has no "${field}"; give it one.`)
  return value
}

function checked<T>(value: unknown, field: string, what: string, is: (it: unknown) => it is T): T | undefined {
  if (value === undefined || value === null) return undefined
  if (is(value)) return value
  throw invalid(`"${field}" of the request must be ${what}.`)
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
export const asCount = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.floor(value) : 0)

/** Undefined if the text is not one JSON object. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
