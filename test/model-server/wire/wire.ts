import type { Conversation } from '../conversation.ts'
import type { Failure, Refusal, Reply } from '../reply.ts'

/** A wire format: how one provider's API puts a conversation, a reply and a refusal into words. Knows nothing of scenarios. */
export interface Wire {
  readonly name: string

  /** Whether this method and path (scenario prefix removed) ask the model for an answer. */
  asksModel(method: string, path: string): boolean

  /** Reads the request; path and query matter where the format keeps the model and the streaming there. */
  read(body: Body, path: string, query: URLSearchParams): Conversation

  /** The answer in one piece. */
  whole(reply: Reply): unknown

  /** The answer as it is streamed, one string per write. */
  frames(reply: Reply): Iterable<string>
  readonly streamType: string

  refusal(failure: Failure): Refusal
  /** A refusal that comes after the stream has begun, as one write. */
  refusalFrame(failure: Failure): string

  /** Anything else the programs ask of this API, as JSON or as text to be streamed; undefined when it is not of this API. */
  aside?(request: Aside): unknown
}

export interface Aside {
  readonly method: string
  readonly path: string
  readonly body: Body
  /** What was pulled so far under the same key (Ollama). */
  readonly pulled: Set<string>
}

/** What `aside` gives when it says no. */
export class RefusedAside {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
  }
}

export type Body = Readonly<Record<string, unknown>>

export const sse = (data: unknown, event?: string) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`

/** Programs send bodies of any shape; these read a field without trusting it. */
export const asRecord = (value: unknown): Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {}
export const asList = (value: unknown): Body[] => (Array.isArray(value) ? value.map(asRecord) : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The text of a content field: a string, or blocks that carry one. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asList(content)
        .map((block) => asText(block.text))
        .filter(Boolean)
        .join('\n')

/** What `pick` finds in a value and in everything inside of it, in its order. */
export function found(value: unknown, pick: (inner: Body) => unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((inner) => found(inner, pick))
  if (typeof value !== 'object' || value === null) return []
  const picked = pick(value as Body)
  const own = [picked].flat().filter((it) => typeof it === 'string' && it !== '')
  return [...own, ...Object.values(value).flatMap((inner) => found(inner, pick))] as string[]
}

/** The bytes of an image in a `data:` address. */
export const dataOfUrl = (url: unknown) => /^data:[^;,]+;base64,(.*)$/.exec(asText(url))?.[1]

export const scriptedModels = ['scripted-model', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'gpt-oss:20b'] as const
