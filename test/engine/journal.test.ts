import { expect, it } from 'vitest'
import type { NewEvent } from '../../src/domain/event/event.ts'
import { lockTask } from '../../src/store/tasks.ts'
import { until } from './home.ts'
import { makeParts } from './store.ts'

const say = (text: string): NewEvent => ({ type: 'agent.message', data: { text } })

it('an event that cannot be stored is replaced by a note, and all around it are kept', async () => {
  const { journal, addTask } = await makeParts()
  const { id } = await addTask()
  let deep: unknown = 'bottom'
  for (let depth = 0; depth < 30_000; depth++) deep = [deep]
  const bad: NewEvent = { type: 'agent.tool_called', data: { callId: 'c', tool: 't', input: deep } }
  const events = [say('a'), say('b'), bad, say('c'), say('d')]
  for (const event of events) journal.append({ task: id, at: new Date(), event })
  await journal.flush()
  const stored = (await journal.read(id, { after: 1, limit: 10 })).map(({ type, data }) => [type, data])
  expect(stored).toEqual([
    ['agent.message', { text: 'a' }],
    ['agent.message', { text: 'b' }],
    ['run.noted', { code: 'event_lost', detail: expect.stringContaining('agent.tool_called') }],
    ['agent.message', { text: 'c' }],
    ['agent.message', { text: 'd' }],
  ])
})

it('what a run said last can be taken back to be stored with its end, and what others said is stored as ever', async () => {
  const { journal, addTask } = await makeParts()
  const { id } = await addTask()
  const [mine, other] = ['r_mine', 'r_other']
  for (const run of [mine, other, mine]) journal.append({ task: id, run, at: new Date(), event: say(`by ${run}`) })
  const taken = await journal.withdraw(mine)
  expect(taken.map((entry) => entry.event.data)).toEqual([{ text: 'by r_mine' }, { text: 'by r_mine' }])
  expect(await journal.withdraw(mine)).toEqual([])
  await journal.flush()
  expect(await journal.read(id, { after: 1, limit: 10 })).toMatchObject([{ data: { text: 'by r_other' } }])
  // Nothing is left to write when the writer comes round; it must not wait for ever.
  journal.append({ task: id, run: mine, at: new Date(), event: say('once more') })
  await journal.withdraw(mine)
  await new Promise((round) => setTimeout(round, 40))
  await journal.flush()
})

it('a server that has no room for a moment costs no event', async () => {
  const { journal, addTask, database, logged } = await makeParts()
  const { id } = await addTask()
  await database.pool.query(`
    create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;
    create trigger full_disk before insert on pawl.events for each row execute function full_disk();
  `)
  journal.append({ task: id, at: new Date(), event: say('kept') })
  await until(() => logged.find((line) => line.message === 'the journal waits for the database'))
  await database.pool.query('drop trigger full_disk on pawl.events')
  await journal.flush()
  expect(await journal.read(id, { after: 1, limit: 10 })).toMatchObject([{ data: { text: 'kept' } }])
})

it('a notification that nobody can read makes everybody look, and harms nothing', async () => {
  const { bus, database } = await makeParts()
  const told: string[] = []
  await bus.start()
  bus.on('cancel', (task) => told.push(task))
  const unreadable = [
    'not json',
    'null',
    '{"from":"x"}',
    '{"from":1,"cancel":[],"events":[]}',
    '{"from":"x","cancel":[3],"events":[]}',
  ]
  for (const payload of unreadable) {
    await database.pool.query('select pg_notify($1, $2)', ['pawl', payload])
    await until(() => told.length > 0)
    expect(told.splice(0)).toEqual(['*'])
  }
})

it('two transactions that wait for each other are both done, one after the other, and each event of them is stored once', async () => {
  const { journal, addTask } = await makeParts()
  const [one, other] = [await addTask(), await addTask()]
  const bothHold = Promise.withResolvers<void>()
  let holding = 0
  let tries = 0
  const inOrder = (first: string, second: string) =>
    journal.transact('test.cross', async (tx, record) => {
      tries++
      await lockTask(tx, first)
      if (++holding === 2) bothHold.resolve()
      await bothHold.promise
      await lockTask(tx, second)
      record({ task: first, event: say(`from ${first}`) })
    })
  await Promise.all([inOrder(one.id, other.id), inOrder(other.id, one.id)])
  expect(tries).toBe(3)
  for (const { id } of [one, other])
    expect((await journal.read(id, { after: 1, limit: 10 })).map(({ data }) => data)).toEqual([{ text: `from ${id}` }])
})

it('a flood of small events is stored in a time that grows with it, not with its square', async () => {
  const { journal, addTask } = await makeParts()
  const { id } = await addTask()
  const count = 20_000
  for (let index = 0; index < count; index++)
    void journal.append({ task: id, at: new Date(), event: say(`${index} `.repeat(30)) })
  await journal.flush()
  const last = await journal.read(id, { after: count - 1, limit: 10 })
  expect(last).toMatchObject([{ seq: count }, { seq: count + 1, data: { text: expect.stringContaining(`${count - 1} `) } }])
})

it('a run that says more than can be stored waits, and nobody waits with it', async () => {
  const { journal, addTask } = await makeParts()
  const { id } = await addTask()
  const append = (run: string, text: string) => journal.append({ task: id, run, at: new Date(), event: say(text) })
  let waits: Promise<void> | undefined
  let said = 0
  for (; !waits && said < 100_000; said++) waits = append('r_flood', 'x')
  expect(said).toBeLessThan(5_000)
  expect(append('r_calm', 'here I am')).toBeUndefined()
  await waits
  expect(append('r_flood', 'more')).toBeUndefined()
  await journal.flush()
  expect(await journal.read(id, { after: said - 100, limit: 500 })).toContainEqual(
    expect.objectContaining({ data: { text: 'here I am' } }),
  )
})
