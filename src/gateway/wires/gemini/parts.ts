import { isObject } from '../../../domain/base/object.ts'
import { asText } from '../fields.ts'
import type { ImagePart, JsonObject, TextPart, ThinkingPart, ToolCallPart } from '../model-request.ts'
import { markedSeal } from '../seal.ts'

/** What takes a signature's place where there is none: models that want one with each call take this in its stead. */
export const absentSignature = 'skip_thought_signature_validator'

/** Google's JSON may be written in either case. */
export const field = (body: JsonObject, name: string): unknown =>
  body[name] ?? body[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]

/** The seal of a part, if it has a real one. */
export function sealOf(part: JsonObject): string | undefined {
  const signature = asText(field(part, 'thoughtSignature'))
  return signature === '' || signature === absentSignature ? undefined : markedSeal('gemini', signature)
}

/** A part with words in it. A signature may hang on plain text too, or come alone; it is then a thought of no words. */
export function wordsOf(part: JsonObject): (TextPart | ThinkingPart)[] {
  const text = asText(part.text)
  const seal = sealOf(part)
  if (part.thought === true) return [{ kind: 'thinking', text, ...(seal === undefined ? {} : { seal }) }]
  const words: TextPart[] = text === '' ? [] : [{ kind: 'text', text }]
  return seal === undefined ? words : [...words, { kind: 'thinking', text: '', seal }]
}

export function callOf(part: JsonObject, call: JsonObject, id: string): ToolCallPart {
  const seal = sealOf(part)
  const input = isObject(call.args) ? call.args : {}
  return { kind: 'tool_call', id: asText(call.id) || id, name: asText(call.name), input, ...(seal === undefined ? {} : { seal }) }
}

/** Undefined for other media, which no other format can take. */
export function imageOf(part: JsonObject): ImagePart | undefined {
  const inline = field(part, 'inlineData')
  const file = field(part, 'fileData')
  const where = isObject(inline) ? inline : isObject(file) ? file : {}
  const mediaType = asText(field(where, 'mimeType'))
  if (!mediaType.startsWith('image/')) return undefined
  if (where === inline) return { kind: 'image', mediaType, data: asText(where.data) }
  return { kind: 'image', mediaType, url: asText(field(where, 'fileUri')) }
}

export const imagePart = ({ mediaType, data, url }: ImagePart): JsonObject =>
  data === undefined ? { fileData: { mimeType: mediaType, fileUri: url } } : { inlineData: { mimeType: mediaType, data } }
