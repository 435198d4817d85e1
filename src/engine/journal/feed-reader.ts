import type { Db } from '../../store/database.ts'
import { currentSnapshot, type FeedPage, type FeedPlace, readFeed } from '../../store/feed.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'
import type { Journal } from './journal.ts'

/** Reads what is new once for all who follow all tasks, however many they are. While nobody follows, or nothing is new, nothing is read. */
export interface FeedReader {
  /**
   * From the end of a read that begins after this is asked: resolves with where that ended, and every page after it comes to the subscriber. Rejects if it cannot be read.
   */
  join(subscriber: FeedSubscriber): Promise<string>
  leave(subscriber: FeedSubscriber): void
}

export interface FeedSubscriber {
  take(page: FeedPage): void
  fail(error: unknown): void
}

interface Joining {
  readonly subscriber: FeedSubscriber
  readonly at: PromiseWithResolvers<string>
}

const pageSize = 500
/** Several writers at once are read at once. */
const gatherMs = 100

export function createFeedReader({ db, journal }: { readonly db: Db; readonly journal: Pick<Journal, 'onStored'> }): FeedReader {
  const subscribers = new Set<FeedSubscriber>()
  /** Those who wait for a read to begin, and those who wait for its end. */
  let joining: Joining[] = []
  let arrived: Joining[] = []
  let isReading = false
  let woken = Promise.withResolvers<void>()
  let isNew = false
  let forget: (() => void) | undefined

  /** Until nobody is left. */
  const read = async () => {
    let place: FeedPlace = { seen: await translateDbErrors(() => currentSnapshot(db)) }
    for (;;) {
      // Whoever comes from here on may know of an event that this read does not see.
      arrived = joining
      joining = []
      isNew = false
      for (let isLast = false; !isLast; ) {
        const page = await translateDbErrors(() => readFeed(db, place, { limit: pageSize }))
        place = page.place
        isLast = page.isLast
        if (page.found.length > 0) for (const subscriber of subscribers) subscriber.take(page)
      }
      for (const { subscriber, at } of arrived) {
        subscribers.add(subscriber)
        at.resolve(place.seen)
      }
      arrived = []
      while (!isNew && joining.length === 0 && subscribers.size > 0) {
        woken = Promise.withResolvers()
        await woken.promise
      }
      if (subscribers.size + joining.length === 0) return
      // Whoever waits to begin is not kept waiting.
      if (joining.length === 0 && subscribers.size > 0) await new Promise((done) => setTimeout(done, gatherMs))
    }
  }
  const start = () => {
    if (isReading) return
    isReading = true
    forget = journal.onStored(() => {
      isNew = true
      woken.resolve()
    })
    void read()
      .catch((error: unknown) => {
        const [waiting, all] = [[...arrived, ...joining], [...subscribers]]
        arrived = []
        joining = []
        subscribers.clear()
        for (const { at } of waiting) at.reject(error)
        for (const subscriber of all) subscriber.fail(error)
      })
      .finally(() => {
        forget?.()
        isReading = false
        // Somebody may have come while the last one left.
        if (joining.length > 0) start()
      })
  }

  return {
    join(subscriber) {
      const at = Promise.withResolvers<string>()
      joining.push({ subscriber, at })
      woken.resolve()
      start()
      return at.promise
    },
    leave(subscriber) {
      subscribers.delete(subscriber)
      const isOther = (one: Joining) => one.subscriber !== subscriber
      joining = joining.filter(isOther)
      arrived = arrived.filter(isOther)
      woken.resolve()
    },
  }
}
