import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { feedVerbs } from '../../src/engine/feed.ts'
import { appendEvents } from '../../src/store/events.ts'
import { makeParts } from './store.ts'
import { agentWith, makeWorld } from './weeks/world.ts'

const note = (task: string, detail: string) => ({
  task,
  at: new Date(),
  event: { type: 'run.noted' as const, data: { code: 'test', detail } },
})
const details = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'run.noted').map((event) => (event.data as { detail: string }).detail)

async function makeFeed() {
  const world = await makeWorld()
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
    const [hasBegun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = db.transaction().execute(async (tx) => {
      await appendEvents(tx, [note(task, 'slow')])
      hasBegun.resolve()
      await mayEnd.promise
    })
    await hasBegun.promise
    await appendEvents(db, [note(other, 'quick')])
    const first = await feed.readFeed({ after: begun, limit: 10 })
    expect(details(first.events)).toEqual(['quick'])
    mayEnd.resolve()
    await slow
    const second = await feed.readFeed({ after: first.cursor, limit: 10 })
    expect(details(second.events)).toEqual(['slow'])
    expect((await feed.readFeed({ after: second.cursor, limit: 10 })).events).toEqual([])
  })

  it('come in the order of their task although the later transaction has the lower number', async () => {
    const { db, feed, task, now } = await makeFeed()
    const begun = await now()
    const [hasBegun, mayWrite] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late = db.transaction().execute(async (tx) => {
      // It has a number from here on.
      await sql`select pg_current_xact_id()`.execute(tx)
      hasBegun.resolve()
      await mayWrite.promise
      await appendEvents(tx, [note(task, 'second')])
    })
    await hasBegun.promise
    await appendEvents(db, [note(task, 'first')])
    mayWrite.resolve()
    await late
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

  it.each([
    'x',
    'MTox',
    Buffer.from('5:3:').toString('base64url'),
    Buffer.from('5:9:2').toString('base64url'),
    Buffer.from('9999999999999:9999999999999:').toString('base64url'),
  ])('refuse a cursor that is none of theirs: %s', async (after) => {
    const parts = await makeParts()
    await expect(feedVerbs(parts).readFeed({ after, limit: 1 })).rejects.toThrow('not one of this database')
  })
})
