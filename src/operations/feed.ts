import { invalid } from '../domain/error.ts'
import type { Event } from '../domain/event/event.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { parseCursor, writeCursor } from '../engine/journal/feed-cursor.ts'
import { createFeedReader, type FeedReader } from '../engine/journal/feed-reader.ts'
import type { Journal } from '../engine/journal/journal.ts'
import type { Db } from '../store/database.ts'
import {
  beforeAll,
  currentSnapshot,
  type FeedFilter,
  type FeedPage,
  type FeedPlace,
  type FoundEvent,
  readFeed,
} from '../store/feed.ts'

export type { FeedFilter } from '../store/feed.ts'

export interface FeedBatch {
  readonly events: readonly Event[]
  /** Goes on after these events. */
  readonly cursor: string
}

export interface FeedVerbs {
  /** Events of all tasks after a cursor, those of each task in their order; of all times with the cursor "0". */
  readFeed(options: FeedFilter & { after: string; limit: number }): Promise<FeedBatch & { isLast: boolean }>
  /** Batches of them as they become durable, without gap or repeat; from now on if no cursor is given. The first may be empty: it tells where the stream begins. */
  followFeed(options: FeedFilter & { after?: string | undefined; signal: AbortSignal }): AsyncIterable<FeedBatch>
}

const pageSize = 500
/** Whoever is so far behind reads by itself what it has missed. */
const mostWaiting = 16

export function feedVerbs({ db, journal }: { readonly db: Db; readonly journal: Pick<Journal, 'onStored'> }): FeedVerbs {
  const reader = createFeedReader({ db, journal })
  const eventsOf = ({ found }: FeedPage) => found.map(({ event }) => event)
  return {
    async readFeed({ after, ...options }) {
      const place = await placeOf(after)
      const page = await translateDbErrors(() => readFeed(db, place, options))
      return { events: eventsOf(page), cursor: writeCursor(page.place), isLast: page.isLast }
    },
    async *followFeed({ after, signal, ...filter }) {
      let place = after === undefined ? { seen: await translateDbErrors(() => currentSnapshot(db)) } : await placeOf(after)
      yield { events: [], cursor: writeCursor(place) }
      while (!signal.aborted) {
        const pages = subscribe(reader, signal)
        try {
          const until = await pages.joined
          // What came before the pages that all are told.
          for (let isLast = place.within === undefined && place.seen === until; !isLast && !signal.aborted; ) {
            const page = await translateDbErrors(() => readFeed(db, place, { ...filter, limit: pageSize, until }))
            place = page.place
            isLast = page.isLast && place.seen === until
            if (page.found.length > 0) yield { events: eventsOf(page), cursor: writeCursor(place) }
          }
          for await (const page of pages.all()) {
            place = page.place
            const events = page.found.filter((one) => isWanted(one, filter)).map(({ event }) => event)
            if (events.length > 0) yield { events, cursor: writeCursor(place) }
          }
        } catch (error) {
          if (!signal.aborted) throw error
        } finally {
          pages.end()
        }
      }
    },
  }

  async function placeOf(cursor: string): Promise<FeedPlace> {
    if (cursor === '0') return { seen: beforeAll }
    const place = parseCursor(cursor)
    const [, now] = (await translateDbErrors(() => currentSnapshot(db))).split(':')
    const ends = place && [place.seen, place.within?.until ?? place.seen].map((snapshot) => BigInt(snapshot.split(':')[1]!))
    if (!place || ends!.some((end) => end > BigInt(now!)))
      throw invalid('This cursor is not one of this database; leave it out to follow from now on, or begin with 0.')
    return place
  }
}

const isWanted = ({ event, agent }: FoundEvent, filter: FeedFilter) =>
  (filter.task === undefined || event.task === filter.task) &&
  (filter.agent === undefined || agent === filter.agent) &&
  (filter.types === undefined || filter.types.includes(event.type))

/** The pages of the common reader for one follower, until it is told to end or has fallen too far behind. */
function subscribe(reader: FeedReader, signal: AbortSignal) {
  let waiting: FeedPage[] = []
  let isBehind = false
  let failure: { readonly error: unknown } | undefined
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const subscriber = {
    take(page: FeedPage) {
      if (waiting.length < mostWaiting) waiting.push(page)
      else isBehind = true
      wake()
    },
    fail(error: unknown) {
      failure = { error }
      wake()
    },
  }
  const ended = Promise.withResolvers<never>()
  const onAbort = () => {
    wake()
    ended.reject(signal.reason)
  }
  signal.addEventListener('abort', onAbort)
  ended.promise.catch(() => undefined)
  return {
    joined: Promise.race([reader.join(subscriber), ended.promise]),
    async *all() {
      while (!signal.aborted) {
        const pages = waiting
        waiting = []
        yield* pages
        if (failure) throw failure.error
        // What was left out is read from where it went on.
        if (isBehind) return
        if (waiting.length > 0 || signal.aborted) continue
        woken = Promise.withResolvers()
        await woken.promise
      }
    },
    end() {
      signal.removeEventListener('abort', onAbort)
      reader.leave(subscriber)
    },
  }
}
