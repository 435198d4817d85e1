import { invalid } from '../../domain/error.ts'
import { isObject, parsedObject } from '../fields.ts'
import type { JsonObject } from '../model-request.ts'

export { asCount, asObject, isObject, parsedObject } from '../fields.ts'

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
