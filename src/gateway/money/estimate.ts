import { fieldsOf, isObject } from '../../domain/base/object.ts'
import { invalid } from '../../domain/error.ts'
import type { Route } from '../base/route.ts'
import { asText } from '../wires/fields.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { RequestHead } from '../wires/wire.ts'
import type { WorstCase } from './purse.ts'
import { guessTokens } from './token-guess.ts'

/** The most that a request may come to, before anybody has counted it. */
export function worstCase(bytes: Buffer, body: JsonObject, head: RequestHead, route: Route): WorstCase {
  const { text, images, files, textBytes } = measured(bytes, body)
  // No token is less than a byte; what comes on top is what providers add of their own, such as how tools are to be called.
  const most = Math.min(text * margin, textBytes) + addedTokens
  return {
    route,
    inputTokens: Math.ceil(most) + images * tokensPerImage + unseenTokens(body, files),
    outputTokens: outputTokens(body, head, route),
    isKeptForHour: hourWords.some((word) => bytes.includes(word)),
  }
}

/** How a request says that the provider is to keep it for an hour, which costs more; each of the two signs can be written as its number. */
const hourWords = ['"1h"', '\\u0031', '\\u0068']

/** About how many tokens go in, for providers that do not count. */
export function inputTokens(bytes: Buffer, body: JsonObject): number {
  const { text, images } = measured(bytes, body)
  return Math.ceil(text) + images * tokensPerImage
}

function measured(bytes: Buffer, body: JsonObject) {
  const images = mayHoldMedia(bytes) ? mediaIn(body) : { count: 0, bytes: 0, files: 0 }
  const textBytes = Math.max(0, bytes.length - images.bytes)
  // Images are left out by their share: where they lie in the text is not known.
  const text = images.bytes > bytes.length / 2 ? textBytes / 2 : guessTokens(bytes) * (textBytes / bytes.length)
  return { text, textBytes, images: images.count, files: images.files }
}

function outputTokens(body: JsonObject, head: RequestHead, route: Route): number {
  const asked = head.maxOutputTokens
  const each = asked !== undefined && asked > 0 ? asked : (route.maxOutputTokens ?? defaultMaxOutputTokens)
  const all = Math.ceil(each * answersAsked(body))
  if (all > maxAskedTokens) throw invalid(`The request asks for up to ${all} tokens; no model writes as many.`)
  return all
}

/** What tokenizers that are not public count more than those that are. */
const margin = 1.5
const addedTokens = 1_000
/** Above what the dearest of the large models count for one picture of the largest size they keep. */
const tokensPerImage = 5_000
/** Beyond this it is no wish, and sums would not be exact. */
const maxAskedTokens = 10_000_000
const defaultMaxOutputTokens = 32_000
/** A conversation that the provider keeps is not in the request; it is as long as a model can read. */
const storedConversationTokens = 200_000

const unseenTokens = (body: JsonObject, files: number) =>
  files > 0 || keptWith(body).some(isGiven) ? storedConversationTokens : 0

const keptWith = (body: JsonObject) => [
  ...[body.previous_response_id, body.conversation, body.cachedContent, body.cached_content],
  typeof body.prompt === 'object' ? body.prompt : undefined,
]
const isGiven = (value: unknown) => value !== undefined && value !== null

/** Several answers to one request are paid one by one. Google's fields may be written in either case. */
function answersAsked(body: JsonObject): number {
  const nested = [body.generationConfig, body.generation_config].flatMap((config) =>
    isObject(config) ? [config.candidateCount, config.candidate_count] : [],
  )
  return Math.max(1, ...[body.n, ...nested].map((count) => (Number(count) > 1 ? Number(count) : 1)))
}

interface Media {
  /** Pictures, and how many bytes of the request they are. */
  count: number
  bytes: number
  /** What the provider fetches itself, or has already. */
  files: number
}

/** A look at the bytes, before everything is looked at: most requests are text alone. */
const mayHoldMedia = (bytes: Buffer) => mediaWords.some((word) => bytes.includes(word))
const mediaWords = ['image', 'inlineData', 'inline_data', 'file', 'document']

const imageTypes = new Set(['image', 'image_url', 'input_image', 'computer_screenshot'])
const fileTypes = new Set(['document', 'file', 'input_file', 'container_upload'])
/**
 * Where formats put the parts of a message. Nothing is looked for elsewhere: what a tool was called with is text to a provider, even if it begins like a picture, and so
 * is whatever a part that is no picture holds.
 */
const partKeys = new Set(['messages', 'contents', 'content', 'parts', 'input', 'output', 'functionResponse', 'function_response'])

function mediaIn(body: JsonObject): Media {
  const found: Media = { count: 0, bytes: 0, files: 0 }
  const picture = (data: unknown) => {
    found.count++
    if (typeof data === 'string') found.bytes += data.length
  }
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) look(item)
    if (!isObject(value)) return
    const { type, source, image_url: url } = value
    const inline = value.inlineData ?? value.inline_data
    if (typeof type === 'string' && imageTypes.has(type)) picture(fieldsOf(source).data ?? fieldsOf(url).url ?? url)
    else if (isObject(inline) && asText(inline.mimeType ?? inline.mime_type).startsWith('image/')) picture(inline.data)
    else if (isElsewhere(value)) found.files++
    // Ollama has them beside the text of a message.
    if (Array.isArray(value.images)) for (const data of value.images) picture(data)
    // A list of them, or one: but an object named `input` is what a tool was called with.
    for (const key in value) if (partKeys.has(key) && (key !== 'input' || Array.isArray(value[key]))) look(value[key])
  }
  look(body)
  return found
}

function isElsewhere(part: JsonObject): boolean {
  if (isObject(part.fileData ?? part.file_data)) return true
  if (typeof part.type !== 'string' || !fileTypes.has(part.type)) return false
  return [part, fieldsOf(part.source), fieldsOf(part.file)].some((place) =>
    [place.file_id, place.file_url, place.url].some((name) => typeof name === 'string'),
  )
}
