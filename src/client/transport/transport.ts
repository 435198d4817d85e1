/** Carries requests to a daemon. Rejects with `unavailable` if no answer came; an answer of any status is a result. */
export interface Transport {
  send(request: WireRequest): Promise<WireAnswer>
  /** Resolves with the head; the chunks throw if the connection breaks before the answer is complete. */
  open(request: WireRequest): Promise<WireStream>
  /** As `send`, for what is no text. */
  take(request: WireRequest): Promise<WireBytes>
  /** Lets go of idle connections. */
  close(): void
}

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Text is JSON; bytes are sent as they are. */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
  readonly signal?: AbortSignal | undefined
  /** True if sending it twice does what sending it once does. */
  readonly repeatable: boolean
}

export interface WireAnswer {
  readonly status: number
  readonly body: string
}

export interface WireStream {
  readonly status: number
  readonly chunks: AsyncIterable<string>
}

export interface WireBytes {
  readonly status: number
  readonly bytes: Uint8Array
}
