import { invalid } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import type { Db } from '../store/database.ts'
import { beforeAll, currentSnapshot, type FeedFilter, type FeedPlace, readFeed } from '../store/feed.ts'
import { parseCursor, writeCursor } from './feed-cursor.ts'
import { guarded } from './guarded.ts'
import type { Journal } from './journal.ts'

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
/** Several writers at once are read at once. */
const gatherMs = 100

export function feedVerbs({ db, journal }: { readonly db: Db; readonly journal: Pick<Journal, 'onStored'> }): FeedVerbs {
  const read = (place: FeedPlace, options: FeedFilter & { limit: number }) => guarded(() => readFeed(db, place, options))
  return {
    async readFeed({ after, ...options }) {
      const { events, place, isLast } = await read(await placeOf(after), options)
      return { events, cursor: writeCursor(place), isLast }
    },
    async *followFeed({ after, signal, ...filter }) {
      let isTold = Promise.withResolvers<void>()
      const forget = journal.onStored(() => isTold.resolve())
      const onAbort = () => isTold.resolve()
      signal.addEventListener('abort', onAbort)
      try {
        let place = after === undefined ? { seen: await guarded(() => currentSnapshot(db)) } : await placeOf(after)
        yield { events: [], cursor: writeCursor(place) }
        while (!signal.aborted) {
          // Whoever tells from here on may know of an event that the query does not see.
          isTold = Promise.withResolvers()
          const found = await read(place, { ...filter, limit: pageSize })
          place = found.place
          if (found.events.length > 0) yield { events: found.events, cursor: writeCursor(place) }
          if (!found.isLast || signal.aborted) continue
          await isTold.promise
          if (!signal.aborted) await new Promise((done) => setTimeout(done, gatherMs))
        }
      } finally {
        forget()
        signal.removeEventListener('abort', onAbort)
      }
    },
  }

  async function placeOf(cursor: string): Promise<FeedPlace> {
    if (cursor === '0') return { seen: beforeAll }
    const place = parseCursor(cursor)
    const [, now] = (await guarded(() => currentSnapshot(db))).split(':')
    const ends = place && [place.seen, place.within?.until ?? place.seen].map((snapshot) => BigInt(snapshot.split(':')[1]!))
    if (!place || ends!.some((end) => end > BigInt(now!)))
      throw invalid('This cursor is not one of this database; leave it out to follow from now on, or begin with 0.')
    return place
  }
}
