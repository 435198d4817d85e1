import type { WireName } from '../../domain/agent/models.ts'
import type { ModelAnswer, ModelEvent, ModelUsage, Refusal, RefusalAnswer } from './model-event.ts'
import type { JsonObject, ModelRequest } from './model-request.ts'

export { type WireName, wireNames } from '../../domain/agent/models.ts'

/** One of them, seen from both sides: we serve clients that speak it, and ask providers that do. Pure: no I/O, no clock but what is passed in. */
export interface Wire {
  readonly name: WireName
  readonly framing: 'sse' | 'ndjson'

  /** What a request wants; undefined if it is not of this format. `path` has neither our prefix nor a query. */
  asked(method: string, path: string, query?: URLSearchParams): Asked | undefined

  // What passing through needs; the body is the client's own and may be of any shape.

  /** The head of a request: enough to route it and to price its worst. Throws a `PawlError` (`invalid`) if there is no model in it. */
  head(body: JsonObject, asked: Asked): RequestHead
  /** Reads what a passing answer says of its usage. */
  usageReader(): UsageReader
  /** What an answer that is none says, as far as it is understood: by status, headers and body, JSON or not. */
  refused(answer: RefusedAnswer, now: Date): Refusal
  /** The headers by which this provider knows who asks. */
  authorization(key: string): Readonly<Record<string, string>>

  // As clients speak it.

  /** Throws a `PawlError` (`invalid`, or `unsupported` for what no other format can say) that names the field. */
  readRequest(body: JsonObject, asked: Asked): ModelRequest
  /** Puts an answer into the format's stream, event by event. */
  answerStream(request: ModelRequest): AnswerWriter
  answerWhole(answer: ModelAnswer, request: ModelRequest): JsonObject
  refusal(refusal: Refusal, now: Date): RefusalAnswer
  /** A refusal after the stream has begun. */
  refusalFrame(refusal: Refusal, now: Date): string
  /** The answer to `count_tokens`. */
  counted(inputTokens: number): JsonObject
  /** The answer to `models`: all of them, or one; also what a format's clients ask about the server itself. Undefined if there is no such model. */
  listed(models: readonly string[], path: string, body: JsonObject): JsonObject | undefined

  // As providers speak it.

  /** `path` is below the provider's base URL (which has the `/v1` for the OpenAI formats: `/responses`; and not for others: `/v1/messages`), with its query. */
  writeRequest(request: ModelRequest, target: string): { readonly path: string; readonly body: JsonObject }
  answerReader(): AnswerReader
  readWhole(body: JsonObject): ModelAnswer
}

export interface Asked {
  readonly kind: 'generate' | 'count_tokens' | 'models'
  /** Where the path says it. */
  readonly model?: string | undefined
  readonly streams?: boolean | undefined
  /** A whole answer is sent as the only item of a JSON array: how Gemini streams to those who do not ask for SSE. */
  readonly isArray?: boolean | undefined
}

export interface RequestHead {
  readonly model: string
  readonly streams: boolean
  readonly maxOutputTokens?: number | undefined
}

/** One event of an SSE stream, or one line of NDJSON (in `data`). */
export interface Frame {
  readonly event?: string | undefined
  readonly data: string
}

export interface UsageReader {
  /** Cheap: called for every frame that passes. */
  frame(frame: Frame): void
  whole(body: JsonObject): void
  /** Undefined as long as none was told. */
  readonly usage: ModelUsage | undefined
  /** The answer is whole: it said how it ended. */
  readonly hasEnded: boolean
}

export interface RefusedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

export interface AnswerWriter {
  /** What is to be sent for this event; often nothing or several frames. */
  write(event: ModelEvent): string
  /** What closes the stream. */
  end(): string
}

export interface AnswerReader {
  read(frame: Frame): ModelEvent[]
  /** The stream is over: what must still be said, such as that it was cut. */
  end(): ModelEvent[]
}
