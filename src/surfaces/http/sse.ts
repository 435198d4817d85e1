import type { ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import { type Event, isRestingEvent } from '../../domain/event/event.ts'
import { isAtRest } from '../../domain/task/task.ts'
import type { FeedFilter, Runtime } from '../../operations/runtime.ts'
import { partialWriter } from './partials.ts'
import { securityHeaders } from './security-headers.ts'
import { Turns } from './turns.ts'

export const streamHeaders = {
  ...securityHeaders,
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies that gather an answer before passing it on would hold events back.
  'X-Accel-Buffering': 'no',
}

const heartbeatMs = 15_000
const drainMs = 10_000
/** What is handed to a socket before it must have taken the rest. So one reader never holds more than this of our memory. */
const sliceBytes = 64 * 1024
/** The last line of a stream that was asked to end with the task's rest; without it a reader knows that it was cut. */
const restComment = ': at rest\n\n'

export interface FollowRequest {
  readonly task: string
  readonly after: number
  readonly untilRest: boolean
  /** A person follows who can answer. */
  readonly attends?: boolean | undefined
  /** Is told what the agent is saying while it says it. */
  readonly partial?: boolean | undefined
  /** An event as this reader may see it. One that is seen whole is put into words once for all readers. */
  readonly shown?: ((event: Event) => Event) | undefined
  /** Whether the reader may still come in; asked with each beat and whenever somebody's rights change. */
  readonly isStillIn?: (() => Promise<boolean>) | undefined
}

export interface FeedRequest extends Pick<FollowRequest, 'shown' | 'isStillIn'> {
  readonly filter: FeedFilter
  readonly after?: string | undefined
}

interface Reader extends Pick<FollowRequest, 'isStillIn'> {
  readonly ended: AbortController
}

/**
 * Writes events to raw responses: a thousand readers cost one socket write per batch each, and nothing else. Events are pulled
 * only as fast as a reader takes them; one that takes nothing for ten seconds is cut, and resumes by Last-Event-ID without a gap.
 */
export class EventStreams {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #clock: Clock
  readonly #open = new Map<ServerResponse, Reader>()
  /** Something is being written to them: between two pieces of an event nothing else may go out. */
  readonly #busy = new WeakSet<ServerResponse>()
  readonly #turns = new Turns()
  #cancelBeat: (() => void) | undefined

  constructor(options: { runtime: Runtime; log: Log; clock?: Clock | undefined }) {
    this.#runtime = options.runtime
    this.#log = options.log
    this.#clock = options.clock ?? systemClock
  }

  /** How many streams are open. */
  get count(): number {
    return this.#open.size
  }

  /** Resolves once the stream is open; rejects before the first byte if the task is unknown. What follows ends with the reader. */
  async open(response: ServerResponse, request: FollowRequest): Promise<void> {
    const task = await this.#runtime.getTask(request.task)
    if (response.destroyed) return
    const ended = new AbortController()
    this.#begin(response, { ended, isStillIn: request.isStillIn }, 'retry: 1000\n\n')
    this.#cutAtFault(response, ended, this.#follow(response, request, isAtRest(task.state, task.reason), ended.signal))
  }

  /** The events of all tasks. Resolves once the stream is open; each batch tells the reader where to go on. */
  async openFeed(response: ServerResponse, request: FeedRequest): Promise<void> {
    const ended = new AbortController()
    const batches = this.#runtime
      .followFeed({ ...request.filter, after: request.after, signal: ended.signal })
      [Symbol.asyncIterator]()
    // Where it begins: a cursor that is not known is refused before anything is sent.
    const first = await batches.next()
    if (response.destroyed) return void (await batches.return?.())
    this.#begin(response, { ended, isStillIn: request.isStillIn }, `retry: 1000\nid: ${first.value?.cursor}\ndata:\n\n`)
    const follow = async () => {
      for (let found = await batches.next(); !found.done; found = await batches.next()) {
        const { events, cursor } = found.value
        const shown = request.shown ? events.map(request.shown) : events
        // Only the last one of a batch has an id: a reader that was cut before it hears the batch once more.
        const texts = shown.map(
          (event, n) => `${n === shown.length - 1 ? `id: ${cursor}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
        )
        await this.#writeTexts(response, texts, ended.signal)
      }
      if (!ended.signal.aborted) response.destroy()
    }
    this.#cutAtFault(response, ended, follow())
  }

  /** Frames that another surface makes, under the same rules. Ends with them. */
  pipe(
    response: ServerResponse,
    frames: AsyncIterable<string>,
    { headers, isStillIn }: { headers?: Readonly<Record<string, string>> | undefined } & Pick<FollowRequest, 'isStillIn'>,
  ): void {
    if (response.destroyed) return
    const ended = new AbortController()
    this.#begin(response, { ended, isStillIn }, '', headers)
    const write = async () => {
      for await (const frame of frames) await this.#writeTexts(response, [frame], ended.signal)
      response.end()
    }
    this.#cutAtFault(response, ended, write())
  }

  /** From here on the reader is one of the open ones, until it goes. */
  #begin(response: ServerResponse, reader: Reader, first: string, headers: Readonly<Record<string, string>> = {}): void {
    response.once('close', () => {
      reader.ended.abort()
      this.#open.delete(response)
    })
    response.on('error', (error) => this.#log.debug('event stream broke', { cause: messageOf(error) }))
    this.#open.set(response, reader)
    this.#beat()
    response.writeHead(200, { ...streamHeaders, ...headers })
    if (first === '') response.flushHeaders()
    else response.write(first)
    // Rights may have gone while it was looked up what to send.
    this.#recheckOne(response, reader.isStillIn)
  }

  #cutAtFault(response: ServerResponse, { signal }: AbortController, written: Promise<void>): void {
    written.catch((error: unknown) => {
      if (!signal.aborted) this.#log.info('event stream cut', { cause: messageOf(error) })
      response.destroy()
    })
  }

  /** Cuts those readers whose token was revoked or has expired, or whose rights have gone. */
  recheck(): void {
    for (const [response, { isStillIn }] of this.#open) this.#recheckOne(response, isStillIn)
  }

  #recheckOne(response: ServerResponse, isStillIn: FollowRequest['isStillIn']): void {
    void isStillIn?.().then(
      (isIn) => isIn || response.destroy(),
      // The database is away: so are the events.
      (error: unknown) => this.#log.debug('whether a reader may go on is asked again', { cause: messageOf(error) }),
    )
  }

  /** Cuts every reader; each comes back to whoever serves next and goes on where it was. */
  stop(): void {
    this.#cancelBeat?.()
    this.#cancelBeat = undefined
    for (const [response, { ended }] of this.#open) {
      ended.abort()
      response.destroy()
    }
    this.#open.clear()
  }

  async #follow(response: ServerResponse, request: FollowRequest, startsAtRest: boolean, signal: AbortSignal): Promise<void> {
    let { after } = request
    let resting = startsAtRest
    // A resting event of the past may be followed by a retry: only the one that nothing follows ends the stream.
    const isOver = async () =>
      request.untilRest && resting && (await this.#runtime.readEvents(request.task, { after, limit: 1 })).length === 0
    if (await isOver()) return void response.end(restComment)
    const partials = request.partial ? partialWriter(response, () => this.#busy.has(response)) : undefined
    const { attends } = request
    for await (const batch of this.#runtime.followEvents(request.task, { after, signal, attends, onGrowing: partials?.tell })) {
      await this.#write(response, request.shown ? batch.map(request.shown) : batch, signal)
      partials?.catchUp()
      for (const event of batch) {
        if (isRestingEvent(event)) resting = true
        else if (event.type === 'task.requeued' || event.type === 'run.admitted') resting = false
        after = event.seq
      }
      if (await isOver()) return void response.end(restComment)
    }
    if (!signal.aborted) response.destroy()
  }

  /** A long history goes out in pieces, and everybody else has a turn between two of them: what a socket takes at once would never let go of us. */
  async #write(response: ServerResponse, batch: readonly Event[], signal: AbortSignal): Promise<void> {
    await this.#writeTexts(response, batch.map(frame), signal)
  }

  async #writeTexts(response: ServerResponse, frames: readonly string[], signal: AbortSignal): Promise<void> {
    this.#busy.add(response)
    try {
      await this.#writePieces(response, frames, signal)
    } finally {
      this.#busy.delete(response)
    }
  }

  async #writePieces(response: ServerResponse, frames: readonly string[], signal: AbortSignal): Promise<void> {
    let text = ''
    let isFirst = true
    const put = async (piece: string | Buffer) => {
      if (!isFirst) await this.#turns.take()
      isFirst = false
      if (signal.aborted) throw new Error('the reader went away')
      if (!response.write(piece)) await this.#drained(response, signal)
    }
    for (const one of frames) {
      text += one
      // At most three bytes per UTF-16 unit, so this is one slice whatever it holds.
      if (text.length <= sliceBytes / 4) continue
      const bytes = Buffer.from(text)
      text = ''
      for (let at = 0; at < bytes.length; at += sliceBytes) await put(bytes.subarray(at, at + sliceBytes))
    }
    if (text !== '') await put(text)
  }

  #drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error) => {
        cancel()
        response.off('drain', onDrain)
        signal.removeEventListener('abort', onAbort)
        if (error) reject(error)
        else resolve()
      }
      const onDrain = () => done()
      const onAbort = () => done(new Error('the reader went away'))
      const cancel = this.#clock.after(drainMs, () => done(new Error(`the reader took nothing for ${drainMs} ms`)))
      if (signal.aborted) return onAbort()
      response.once('drain', onDrain)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** One timer for all readers; it rests while there are none. */
  #beat(): void {
    this.#cancelBeat ??= this.#clock.after(heartbeatMs, () => {
      this.#cancelBeat = undefined
      this.recheck()
      for (const response of this.#open.keys())
        if (!response.writableNeedDrain && !this.#busy.has(response)) response.write(': beat\n\n')
      if (this.#open.size > 0) this.#beat()
    })
  }
}

/** Many readers of one task share the event object, so each event is put into words once. */
const frames = new WeakMap<Event, string>()

export function frame(event: Event): string {
  const known = frames.get(event)
  if (known !== undefined) return known
  const text = `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`
  frames.set(event, text)
  return text
}
