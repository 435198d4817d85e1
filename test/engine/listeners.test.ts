import { createPublicKey, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { findListenerKey } from '../../src/engine/delivery/listeners/key.ts'
import { connectionTo } from '../../src/store/embedded/holder.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { type Received, type Receiver, startReceiver } from '../receiver/receiver.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'
import { by, listed } from './notification-home.ts'

let receiver: Receiver
let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  receiver = await startReceiver()
  home = await makeHome()
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ a2a: { push: { allowPrivate: true } } }))
  daemon = await startEngine(home.path)
}, 60_000)
afterAll(async () => {
  await daemon.stop()
  await receiver.stop()
  await home.remove()
})
afterEach(() => void receiver.received.splice(0))

const agent = (script: string) =>
  commandAgent(['/bin/sh', '-c', script], { retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 } })
const allSent = (count: number) =>
  until(async () => {
    const items = await listed(daemon)
    return items.filter(({ state }) => state === 'sent').length >= count ? items : undefined
  })
const stateOf = ({ body }: Received) => {
  const said = JSON.parse(body) as { statusUpdate?: { status: { state: string } }; artifactUpdate?: unknown }
  return said.statusUpdate?.status.state ?? (said.artifactUpdate ? 'artifact' : '?')
}
async function query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(connectionTo(layoutOf(home.path)))
  await client.connect()
  const { rows } = await client.query<T>(text, values)
  await client.end()
  return rows
}

it('whoever listens from the beginning is told every update once, in order, signed, and shown what it asked for', async () => {
  const listener = {
    url: receiver.url('/ok'),
    token: 'a-token-of-the-client-0123456789',
    scheme: 'Bearer',
    credentials: 'credentials-of-the-client-0123',
    wire: '1.0',
  }
  const { task } = await daemon.runtime.createTask(
    { prompt: 'do it', agentConfig: agent('echo the answer') },
    { ...by, listeners: [listener] },
  )
  await eventsUntil(daemon, task.id, isResting)
  await allSent(2)
  const told = receiver.at('/ok')
  expect(told.map(stateOf)).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED'])
  expect(JSON.parse(told[1]!.body)).toMatchObject({
    artifactUpdate: { taskId: task.id, contextId: task.session, artifact: { parts: [{ text: 'the answer' }] } },
  })
  const { jwk } = (await findListenerKey(home.path))!
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  for (const { headers, body } of told) {
    const [version, signature] = headers['webhook-signature']!.split(',')
    const said = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
    expect([version, verify(null, said, key, Buffer.from(signature!, 'base64'))]).toEqual(['v1a', true])
    expect(headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': listener.token,
      authorization: `Bearer ${listener.credentials}`,
    })
  }
  expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(3)

  // What the database holds tells nobody a token.
  const rows = await query('select * from pawl.task_listeners where task_id = $1', [task.id])
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(listener.token)
  expect(Buffer.from(rows[0]!.sealed as Buffer).includes(listener.credentials)).toBe(false)
  await daemon.runtime.removeTask(task.id, by)
  expect(await query('select from pawl.task_listeners where task_id = $1', [task.id])).toEqual([])
})

it('one that fails is tried again under the same id, holds up no other listener, and is told in order', async () => {
  const { task } = await daemon.runtime.createTask({ prompt: 'do it', agentConfig: agent('read line; echo late') }, by)
  for (const path of ['/flaky/1', '/ok/2'])
    await daemon.listeners.setListener(task.id, { name: path, url: receiver.url(path), wire: '1.0' }, by)
  await eventsUntil(daemon, task.id, isResting)
  await until(async () => receiver.at('/ok/2').some((one) => stateOf(one) === 'TASK_STATE_COMPLETED') || undefined)
  // What waits for its next try is sent now.
  await until(async () => {
    for (const { id, state } of await listed(daemon))
      if (state === 'pending') await daemon.runtime.retryNotifications({ id }, by).catch(() => undefined)
    return (await listed(daemon)).every(({ state }) => state === 'sent') || undefined
  })
  const ids = receiver.at('/flaky/1').map(({ headers }) => headers['webhook-id'])
  expect(ids.length).toBeGreaterThan(new Set(ids).size)
  const order = [...new Map(receiver.at('/flaky/1').map((one) => [one.headers['webhook-id'], stateOf(one)])).values()]
  expect(order.at(-1)).toBe('TASK_STATE_COMPLETED')
})

it('each caller has their own, may replace, list and remove them, and is told nothing after that', async () => {
  const { task } = await daemon.runtime.createTask({ prompt: 'do it', agentConfig: agent('sleep 60') }, by)
  const other = { by: 'mia', user: 'mia' }
  await daemon.entrance.createUser({ name: 'mia', role: 'operator' }, by)
  const mine = { name: 'one', url: receiver.url('/ok/mine'), token: 'first-token-0123456789', wire: '1.0' }
  expect(await daemon.listeners.setListener(task.id, mine, by)).toEqual(mine)
  expect(await daemon.listeners.setListener(task.id, { ...mine, token: 'second-token-0123456789' }, by)).toMatchObject({
    token: 'second-token-0123456789',
  })
  await daemon.listeners.setListener(task.id, { url: receiver.url('/ok/theirs'), wire: '1.0' }, other)
  expect((await daemon.listeners.listListeners(task.id, {}, by)).items.map(({ name }) => name)).toEqual(['one'])
  await expect(daemon.listeners.getListener(task.id, 'one', other)).rejects.toThrow(/no address/)
  await daemon.listeners.removeListener(task.id, 'one', by)
  await daemon.listeners.removeListener(task.id, 'one', by)
  await expect(daemon.listeners.getListener(task.id, 'one', by)).rejects.toThrow(/no address/)
  await daemon.runtime.cancelTask(task.id, { ...by, now: true })
  await until(async () => receiver.at('/ok/theirs').some((one) => stateOf(one) === 'TASK_STATE_CANCELED') || undefined)
  expect(receiver.at('/ok/mine').filter((one) => stateOf(one) === 'TASK_STATE_CANCELED')).toEqual([])
  await expect(daemon.listeners.setListener('t_0123456789abcdefgh', mine, by)).rejects.toThrow(/no task/)
})

it('addresses inside are refused unless the owner permits them, and so is what cannot stand in a header', async () => {
  await writeFile(join(home.path, 'config.yaml'), '{}')
  const strict = await startEngine(home.path)
  try {
    const { task } = await strict.runtime.createTask({ prompt: 'do it', agentConfig: agent('echo x') }, by)
    const set = (listener: Record<string, string>) =>
      strict.listeners.setListener(task.id, { url: 'https://example.com/hook', wire: '1.0', ...listener }, by)
    for (const url of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://10.1.2.3/',
      'https://169.254.169.254/',
    ])
      await expect(set({ url })).rejects.toThrow(/TLS|private network/)
    for (const url of ['nonsense', 'ftp://example.com/', 'https://user:secret@example.com/'])
      await expect(set({ url })).rejects.toThrow(/url/)
    await expect(set({ token: 'two\nlines' })).rejects.toThrow(/header/)
    await expect(set({ scheme: 'Not a scheme' })).rejects.toThrow(/scheme/)
  } finally {
    await strict.stop()
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ a2a: { push: { allowPrivate: true } } }))
  }
})
