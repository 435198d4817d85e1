import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import { type Growing, type GrowingPiece, grownBy, isEndedBy } from '../../domain/event/live-text.ts'
import { problemError } from './problem.ts'
import { type SseMessage, SseParser } from './sse-parser.ts'
import type { Transport } from './transport.ts'

export interface FollowOptions {
  /** Only events with a higher number. */
  readonly after?: number | undefined
  /** `rest`: ends when the task has come to rest. Otherwise only the signal ends it. */
  readonly until?: 'rest' | undefined
  readonly signal?: AbortSignal | undefined
  /** A person follows who can answer: questions then wait a moment for it. */
  readonly attends?: boolean | undefined
  /**
   * Told what the agent is saying while it says it, and with undefined that nothing is being said any more, or that its event has come. Best effort: nothing of it is
   * stored, and a daemon knows only of agents that it runs itself.
   */
  readonly onGrowing?: ((growing: Growing | undefined) => void) | undefined
  /** How long to go on trying while no daemon answers. */
  readonly patienceMs?: number | undefined
  /** Told when the daemon is lost and when it is back. */
  readonly onState?: ((state: 'live' | 'away') => void) | undefined
  /** Told whenever a connection stands, the first one too. */
  readonly onOpen?: (() => void) | undefined
}

const firstDelayMs = 100
const maxDelayMs = 5_000

/**
 * A task's events, each once and in order, across restarts of the daemon and cuts of the connection.
 * The first connection must succeed; later ones are tried again until `patienceMs` have passed without a word.
 */
export async function* followEvents(
  transport: Transport,
  path: string,
  options: FollowOptions,
): AsyncGenerator<Event, void, undefined> {
  const { until, attends, onGrowing } = options
  let after = options.after ?? 0
  const asked = () => ({
    after: String(after),
    ...(until ? { until } : {}),
    ...(attends ? { attends: 'true' } : {}),
    ...(onGrowing ? { partial: '1' } : {}),
  })
  /** All that was heard of it; it is not shown once its event has come, which an old one may only seem to be. */
  let growing: Growing | undefined
  let isShown = false
  const show = (now: Growing | undefined) => {
    if (now || isShown) onGrowing?.(now)
    isShown = now !== undefined
  }
  for await (const message of heard(transport, { path, query: asked, lastId: () => String(after) }, options)) {
    if ('comment' in message) {
      if (until && message.comment === 'at rest') return
      continue
    }
    if (message.name === 'partial') {
      growing = grownBy(growing, JSON.parse(message.data) as GrowingPiece)
      show(growing)
      continue
    }
    // A newer daemon may send what we have no name for.
    if (message.name !== undefined) continue
    const event = JSON.parse(message.data) as Event
    if (event.seq <= after) continue
    after = event.seq
    if (growing && isEndedBy(growing, event)) show(undefined)
    yield event
  }
}

export interface FollowFeedOptions extends Omit<FollowOptions, 'after' | 'until' | 'attends' | 'onGrowing'> {
  /** The cursor of an earlier stream; "0" begins with the oldest event. Left out: from now on. */
  readonly after?: string | undefined
  readonly task?: string | undefined
  readonly agent?: string | undefined
  /** Types, or beginnings of them that end in a dot. */
  readonly types?: readonly string[] | undefined
}

/** The events of all tasks, those of each in their order; after a cut some may come twice, with the same task and number. */
export async function* followFeed(
  transport: Transport,
  path: string,
  options: FollowFeedOptions,
): AsyncGenerator<Event, void, undefined> {
  const { task, agent, types } = options
  let after = options.after
  const asked = () => ({
    ...(after === undefined ? {} : { after }),
    ...(task === undefined ? {} : { task }),
    ...(agent === undefined ? {} : { agent }),
    ...(types === undefined ? {} : { type: types.join(',') }),
  })
  for await (const message of heard(transport, { path, query: asked, lastId: () => after }, options)) {
    if ('comment' in message) continue
    after = message.id ?? after
    if (message.data !== '') yield JSON.parse(message.data) as Event
  }
}

interface Stream {
  readonly path: string
  query(): Record<string, string>
  /** What was heard last, from which on another connection goes on. */
  lastId(): string | undefined
}

/** The messages of a stream, over as many connections as it takes. */
async function* heard(
  transport: Transport,
  { path, query, lastId }: Stream,
  options: Pick<FollowOptions, 'signal' | 'patienceMs' | 'onState' | 'onOpen'>,
): AsyncGenerator<SseMessage, void, undefined> {
  const { signal, patienceMs = 120_000 } = options
  let heardAt: number | undefined
  let isAway = false
  for (let failures = 0; ; failures++) {
    try {
      const last = lastId()
      const stream = await transport.open({
        method: 'GET',
        path: `${path}?${new URLSearchParams(query())}`,
        headers: { Accept: 'text/event-stream', ...(last === undefined ? {} : { 'Last-Event-ID': last }) },
        signal,
        repeatable: true,
      })
      if (stream.status !== 200) throw problemError(stream.status, await textOf(stream.chunks))
      heardAt = performance.now()
      if (isAway) options.onState?.('live')
      isAway = false
      options.onOpen?.()
      const parser = new SseParser()
      for await (const chunk of stream.chunks) {
        heardAt = performance.now()
        for (const message of parser.push(chunk)) {
          failures = 0
          yield message
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (heardAt === undefined || (error instanceof PawlError && error.code !== 'unavailable')) throw error
      if (performance.now() - heardAt > patienceMs) {
        throw unavailable(
          `The Pawl daemon has not come back for ${Math.round(patienceMs / 1000)} s (${messageOf(error)}).`,
          error,
        )
      }
    }
    if (signal?.aborted) return
    if (!isAway) options.onState?.('away')
    isAway = true
    await pause(Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2), signal)
    if (signal?.aborted) return
  }
}

/** Resolves early when the signal aborts. */
export const pause = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    if (signal?.aborted) done()
  })

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
}
