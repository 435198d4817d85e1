import { expect, it } from 'vitest'
import type { Event } from '../../domain/event/event.ts'
import { createHub } from './hub.ts'

it('an event that is stored while another look at the store is under way reaches its readers', async () => {
  const stored: Event[] = []
  const say = (seq: number) =>
    stored.push({ seq, at: '2030-01-01T00:00:00.000Z', task: 't_x', type: 'agent.message', data: { text: String(seq) } })
  let gate: Promise<void> | undefined
  const hub = createHub(async (_task, after) => {
    const seen = stored.filter((event) => event.seq > after)
    await gate
    return seen
  })
  const done = new AbortController()
  const reader = hub.follow('t_x', 0, done.signal)
  say(1)
  expect((await reader.next()).value).toMatchObject([{ seq: 1 }])

  const slow = Promise.withResolvers<void>()
  gate = slow.promise
  const next = reader.next()
  hub.refresh('t_x')
  say(2)
  hub.refresh('t_x')
  gate = undefined
  slow.resolve()
  expect((await next).value).toMatchObject([{ seq: 2 }])
  done.abort()
  await reader.return(undefined)
})
