import { asObject, isObject } from '../../domain/base/object.ts'
import { invalid } from '../../domain/error.ts'
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

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
export const asCount = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.floor(value) : 0)

/** Undefined if the text is not one JSON object. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Bodies come in any shape; these read a field without trusting it. */
export const objectsOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** The input of a call that a model wrote as JSON text. What is no object is kept, under one name, so that the model can see what it wrote. */
export const inputOf = (json: string): JsonObject => (json.trim() === '' ? {} : (parsedObject(json) ?? { input: json }))

export function modelOf(body: JsonObject): string {
  const model = textOf(body.model)
  if (!model) throw invalid('The request has no "model"; name the model that is asked.')
  return model
}

/** Without the fields that are undefined: they would be keys of the object all the same. */
export function present<T extends object>(fields: T): T {
  for (const key of Object.keys(fields) as (keyof T)[]) if (fields[key] === undefined) delete fields[key]
  return fields
}

export const textsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectsOf(content)
        .map((block) => textOf(block.text) ?? '')
        .filter((text) => text !== '')
        .join('\n')

/** `data:image/png;base64,…`, as some formats write an image. */
export function imageOf(url: string): { mediaType: string; data?: string; url?: string } {
  const inline = /^data:([^;,]+);base64,/.exec(url)
  return inline ? { mediaType: inline[1]!, data: url.slice(inline[0].length) } : { mediaType: mediaTypeOf(url), url }
}

const mediaTypeOf = (url: string) => {
  const ending = /\.(png|jpe?g|gif|webp)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase()
  return `image/${ending === undefined || ending === 'jpg' ? 'jpeg' : ending}`
}

export const imageUrl = (image: { mediaType: string; data?: string | undefined; url?: string | undefined }): string =>
  image.url ?? `data:${image.mediaType};base64,${image.data ?? ''}`
