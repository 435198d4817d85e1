import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  home = await makeHome()
  daemon = await serve(home.path)
}, 60_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
})

const client = () => createClient({ url: daemon.url, token: daemon.token })
const ask = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${daemon.url}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${daemon.token}`, accept: 'application/json', ...headers },
  })

test('all tasks are followed by one stream, from where it was left, also over a restart of the daemon', async () => {
  const stop = new AbortController()
  const seen: Event[] = []
  const states: string[] = []
  const heard = (async () => {
    const options = { types: ['task.'], signal: stop.signal, onState: (state: string) => states.push(state) }
    for await (const event of client().followFeed(options)) seen.push(event)
  })()
  const createdBy = (id: string) => seen.filter((event) => event.task === id && event.type === 'task.queued').length
  const first = (await client().createTask({ prompt: 'a', agent: 'demo' })).task.id
  await expect.poll(() => createdBy(first), { timeout: 10_000 }).toBe(1)
  const port = new URL(daemon.url).port
  daemon.process.kill('SIGKILL')
  await daemon.ended
  daemon = await serve(home.path, { port })
  const second = (await client().createTask({ prompt: 'b', agent: 'demo' })).task.id
  await expect.poll(() => createdBy(second), { timeout: 20_000 }).toBe(1)
  expect(createdBy(first)).toBe(1)
  expect(states).toEqual(['away', 'live'])
  expect(seen.every(({ type }) => type.startsWith('task.'))).toBe(true)
  stop.abort()
  await heard
}, 60_000)

test('pages of it hold everything once', async () => {
  const { items: tasks } = await client().listTasks()
  const stored = (await Promise.all(tasks.map(({ id }) => client().readEvents(id)))).flatMap(({ items }) => items.map(nameOf))
  expect(stored.length).toBeGreaterThan(3)
  const pages = async () => {
    const all: Event[] = []
    for (let after: string | undefined = '0'; after !== undefined; ) {
      const page: { items: Event[]; next: string | null } = await client().readFeed({ after, limit: 3 })
      all.push(...page.items)
      after = page.next ?? undefined
    }
    return all.map(nameOf)
  }
  // An event is in the feed once every transaction that began before its own has ended.
  await expect.poll(pages).toEqual(expect.arrayContaining(stored))
  const names = await pages()
  expect(new Set(names).size).toBe(names.length)
})
const nameOf = ({ task, seq }: Event) => `${task} ${seq}`

test.each([
  ['?type=task.compleded', /did you mean/i],
  ['?after=!', /cursor/],
  ['?after=OTk5OTk5OTk5OTk5OTo5OTk5OTk5OTk5OTk5Og', /not one of this database/],
  ['?typ=task.', /did you mean/],
])('what it does not know is refused by name: %s', async (query, sentence) => {
  const answer = await ask(query)
  expect(answer.status).toBe(400)
  expect(await answer.text()).toMatch(sentence)
  const stream = await ask(query, { accept: 'text/event-stream' })
  expect(stream.status).toBe(400)
})
