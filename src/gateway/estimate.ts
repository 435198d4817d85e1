import type { JsonObject } from './model-request.ts'
import type { WorstCase } from './purse.ts'
import type { Route } from './route.ts'
import { guessTokens } from './token-guess.ts'
import type { RequestHead } from './wire.ts'

/** The most that a request may come to, before anybody has counted it. */
export function worstCase(bytes: Buffer, body: JsonObject, head: RequestHead, route: Route): WorstCase {
  const { text, images, textBytes } = measured(bytes, body)
  // No token is less than a byte; what comes on top is what providers add of their own, such as how tools are to be called.
  const most = Math.min(text * margin, textBytes) + addedTokens
  return {
    route,
    inputTokens: Math.ceil(most) + images * tokensPerImage + unseenTokens(body),
    outputTokens: outputTokens(body, head, route),
  }
}

/** About how many tokens go in, for providers that do not count. */
export function inputTokens(bytes: Buffer, body: JsonObject): number {
  const { text, images } = measured(bytes, body)
  return Math.ceil(text) + images * tokensPerImage
}

function measured(bytes: Buffer, body: JsonObject) {
  const images = mayHoldImages(bytes) ? imagesIn(body) : noImages
  const textBytes = bytes.length - images.bytes
  // Images are left out by their share: where they lie in the text is not known.
  const text = images.bytes > bytes.length / 2 ? textBytes / 2 : guessTokens(bytes) * (textBytes / bytes.length)
  return { text, textBytes, images: images.count }
}

function outputTokens(body: JsonObject, head: RequestHead, route: Route): number {
  const asked = head.maxOutputTokens
  const each = asked !== undefined && asked > 0 ? asked : (route.maxOutputTokens ?? defaultMaxOutputTokens)
  return Math.ceil(each * answersAsked(body))
}

/** What tokenizers that are not public count more than those that are. */
const margin = 1.5
const addedTokens = 1_000
/** Above what the dearest of the large models count for one picture of the largest size they keep. */
const tokensPerImage = 5_000
const defaultMaxOutputTokens = 64_000
/** A conversation that the provider keeps is not in the request; it is as long as a model can read. */
const storedConversationTokens = 200_000

const unseenTokens = (body: JsonObject) =>
  (body.previous_response_id ?? body.conversation ?? undefined) === undefined ? 0 : storedConversationTokens

/** Several answers to one request are paid one by one. */
function answersAsked(body: JsonObject): number {
  const config = body.generationConfig
  const nested = typeof config === 'object' && config !== null && 'candidateCount' in config ? config.candidateCount : undefined
  return [body.n, nested].reduce<number>((most, count) => (typeof count === 'number' && count > most ? count : most), 1)
}

interface Images {
  count: number
  bytes: number
}
const noImages: Images = { count: 0, bytes: 0 }

const mayHoldImages = (bytes: Buffer) => bytes.includes('image') || bytes.includes('inlineData') || bytes.includes('inline_data')

/** Base 64 of an image says nothing of its tokens. Formats differ in where they put it; how it begins does not. */
const imageStart = /^(?:data:image\/|iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/
const imageTypes = new Set(['image', 'image_url', 'input_image'])

function imagesIn(value: unknown): Images {
  const found: Images = { count: 0, bytes: 0 }
  const look = (value: unknown, isCounted: boolean): void => {
    if (typeof value === 'string') {
      if (!imageStart.test(value)) return
      found.bytes += value.length
      if (!isCounted) found.count++
    } else if (Array.isArray(value)) for (const item of value) look(item, isCounted)
    else if (typeof value === 'object' && value !== null) {
      const isImage = !isCounted && 'type' in value && typeof value.type === 'string' && imageTypes.has(value.type)
      if (isImage) found.count++
      for (const key in value) look((value as JsonObject)[key], isCounted || isImage)
    }
  }
  look(value, false)
  return found
}
