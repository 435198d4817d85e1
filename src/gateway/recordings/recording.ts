/** Keeps a run's model traffic. Calls are numbered from 1 in the order in which the run asked. */
export interface Recorder {
  begin(ask: RecordedAsk): CallRecorder
}

export interface RecordedAsk {
  readonly number: number
  readonly method: string
  /** With its query, below our prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** As the client sent it. */
  readonly body: Buffer
}

/** What the client got. */
export interface CallRecorder {
  head(status: number, headers: Readonly<Record<string, string>>): void
  chunk(bytes: Uint8Array): void
  /** `cut` if it was not whole. */
  end(how: 'whole' | 'cut'): void
}

/** Answers in a provider's place. */
export interface Replay {
  /** `live`: the provider is asked. A `PawlError` says where the run left the recording. */
  answer(ask: RecordedAsk): Promise<RecordedAnswer | 'live'>
}

export interface RecordedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}
