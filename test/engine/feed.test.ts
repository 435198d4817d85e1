import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import { parseCursor } from '../../src/engine/journal/feed-cursor.ts'
import { feedVerbs } from '../../src/operations/feed.ts'
import { type Db, isPassing, type Tx } from '../../src/store/database.ts'
import { appendEvents } from '../../src/store/events.ts'
import { readFeed } from '../../src/store/feed.ts'
import { agentWith, makeWorld } from './weeks/world.ts'

const note = (task: string, detail: string) => ({
  task,
  at: new Date(),
  event: { type: 'run.noted' as const, data: { code: 'test', detail } },
})
const details = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'run.noted').map((event) => (event.data as { detail: string }).detail)

const ends: (() => Promise<void>)[] = []
let world: Awaited<ReturnType<typeof makeWorld>>
beforeAll(async () => {
  world = await makeWorld({ onEnd: (end) => ends.push(end) })
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

async function makeFeed() {
  const task = await world.add(agentWith('a'))
  const other = await world.add(agentWith('b'))
  const feed = feedVerbs(world)
  const now = async () => {
    const stop = new AbortController()
    for await (const { cursor } of feed.followFeed({ signal: stop.signal })) return cursor
    throw new Error('A stream tells where it begins.')
  }
  return { ...world, task, other, feed, now }
}

/** A transaction that stays open until it is told to end. A busy machine may refuse a connection for a while: it is asked again, and whatever else goes wrong is said, not waited for. */
async function hold(db: Db, begin: (tx: Tx) => Promise<unknown>, end: (tx: Tx) => Promise<unknown> = async () => undefined) {
  for (;;) {
    const [hasBegun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = db.transaction().execute(async (tx) => {
      await begin(tx)
      hasBegun.resolve()
      await mayEnd.promise
      await end(tx)
    })
    onTestFinished(() => mayEnd.resolve())
    try {
      await Promise.race([hasBegun.promise, done])
      return {
        end() {
          mayEnd.resolve()
          return done
        },
      }
    } catch (error) {
      if (!isPassing(error)) throw error
    }
  }
}

/** How many statements this process has sent to its database. */
let sent = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  sent++
  return (query as (...args: unknown[]) => unknown).apply(this, args)
} as typeof query

describe('the events of all tasks', () => {
  it('are read page by page, each once, those of a task in their order', async () => {
    const { db, feed, task, other } = await makeFeed()
    await appendEvents(
      db,
      [...'abc'].flatMap((detail) => [note(task, detail), note(other, detail.toUpperCase())]),
    )
    const seen: Event[] = []
    for (let after = '0', isLast = false; !isLast; ) {
      const page = await feed.readFeed({ after, limit: 2 })
      seen.push(...page.events)
      after = page.cursor
      isLast = page.isLast
    }
    const of = (id: string) => seen.filter((event) => event.task === id)
    expect(details(of(task))).toEqual(['a', 'b', 'c'])
    expect(details(of(other))).toEqual(['A', 'B', 'C'])
    for (const id of [task, other]) expect(of(id).map((event) => event.seq)).toEqual(of(id).map((_, n) => n + 1))
  })

  it('hold what a transaction stores that began earlier and ends later than another', async () => {
    const { db, feed, task, other, now } = await makeFeed()
    const begun = await now()
    const slow = await hold(db, (tx) => appendEvents(tx, [note(task, 'slow')]))
    await appendEvents(db, [note(other, 'quick')])
    const first = await feed.readFeed({ after: begun, limit: 10 })
    expect(details(first.events)).toEqual(['quick'])
    await slow.end()
    const second = await feed.readFeed({ after: first.cursor, limit: 10 })
    expect(details(second.events)).toEqual(['slow'])
    expect((await feed.readFeed({ after: second.cursor, limit: 10 })).events).toEqual([])
  })

  it('come in the order of their task although the later transaction has the lower number', async () => {
    const { db, feed, task, now } = await makeFeed()
    const begun = await now()
    // It has a number from its first statement on.
    const late = await hold(
      db,
      (tx) => sql`select pg_current_xact_id()`.execute(tx),
      (tx) => appendEvents(tx, [note(task, 'second')]),
    )
    await appendEvents(db, [note(task, 'first')])
    await late.end()
    expect(details((await feed.readFeed({ after: begun, limit: 10 })).events)).toEqual(['first', 'second'])
  })

  it('are followed from now on, by type, task and agent', async () => {
    const { db, journal, feed, task, other } = await makeFeed()
    await appendEvents(db, [note(task, 'before')])
    const stop = new AbortController()
    const stream = feed.followFeed({ signal: stop.signal, agent: 'a', types: ['run.noted'] })[Symbol.asyncIterator]()
    expect((await stream.next()).value).toMatchObject({ events: [] })
    const next = stream.next()
    await appendEvents(db, [note(other, 'of another agent'), note(task, 'after')])
    journal.announce(task)
    expect(details((await next).value!.events)).toEqual(['after'])
    const last = stream.next()
    stop.abort()
    expect((await last).done).toBe(true)
  })

  it('come in batches of so many bytes at most, and a larger one alone', async () => {
    const { db, task, now } = await makeFeed()
    const begun = parseCursor(await now())!
    await appendEvents(
      db,
      [10, 400, 400, 5_000, 10, 10].map((length) => note(task, 'x'.repeat(length))),
    )
    const sizes: number[][] = []
    for (let place = begun, isLast = false; !isLast; ) {
      const page = await readFeed(db, place, { task, limit: 10, maxBytes: 1_000 })
      sizes.push(details(page.found.map(({ event }) => event)).map(({ length }) => length))
      place = page.place
      isLast = page.isLast
    }
    expect(sizes).toEqual([
      [10, 400, 400, 5_000],
      [10, 10],
    ])
  })

  it('are read once for all who follow them, and not at all while nothing happens', async () => {
    const { db, journal, task, other, feed, now } = await makeFeed()
    const begun = await now()
    await appendEvents(db, [note(task, 'one'), note(other, 'two')])
    const stop = new AbortController()
    const heard: string[][] = Array.from({ length: 100 }, () => [])
    const following = heard.map(async (own, n) => {
      const filter = n % 2 === 0 ? { agent: 'a', task } : { types: ['run.noted' as const] }
      for await (const { events } of feed.followFeed({ ...filter, after: begun, signal: stop.signal })) {
        own.push(...details(events.filter((event) => event.task === task || event.task === other)))
      }
    })
    const expectAll = (even: string[], odd: string[]) =>
      expect
        .poll(() => heard.every((own, n) => own.toSorted().join() === (n % 2 === 0 ? even : odd).join()), { timeout: 20_000 })
        .toBe(true)
    await expectAll(['one'], ['one', 'two'])
    const before = sent
    await appendEvents(db, [note(task, 'three')])
    journal.announce(task)
    await expectAll(['one', 'three'], ['one', 'three', 'two'])
    expect(sent - before).toBeGreaterThan(0)
    expect(sent - before).toBeLessThan(10)
    stop.abort()
    await Promise.all(following)
  }, 60_000)

  it.each([
    'x',
    'MTox',
    Buffer.from('5:3:').toString('base64url'),
    Buffer.from('5:9:2').toString('base64url'),
    Buffer.from('9999999999999:9999999999999:').toString('base64url'),
  ])('refuse a cursor that is none of theirs: %s', async (after) => {
    await expect(feedVerbs(world).readFeed({ after, limit: 1 })).rejects.toThrow('not one of this database')
  })
})
