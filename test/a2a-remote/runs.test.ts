import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import type { NotificationView } from '../../src/domain/notification/notification.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { json, pawl, type Running, serve } from '../e2e/pawl.ts'
import { makeHome, until } from '../engine/home.ts'
import { type Peer, startPeer } from './peer.ts'

const patienceMs = 60_000
const key = 'right-key-0123456789'

let peer: Peer
let home: Awaited<ReturnType<typeof makeHome>>
let work: string
let daemon: Running
const env = { COLLEAGUE_KEY: key }

beforeAll(async () => {
  peer = await startPeer()
  home = await makeHome('pawl-a2a-')
  work = await mkdtemp(join(tmpdir(), 'pawl-a2a-work-'))
  await writeFile(
    join(home.path, 'config.yaml'),
    `agents:
  colleague: { adapter: a2a, url: "${peer.url}/plain" }
  guarded: { adapter: a2a, url: "${peer.url}/keyed", auth: { env: [COLLEAGUE_KEY] } }
  closed: { adapter: a2a, url: "${peer.url}/plain", profile: shut }
profiles:
  shut: { extends: guarded, network: { deny: ["${new URL(peer.url).host}"] } }
`,
    { mode: 0o600 },
  )
  daemon = await serve(home.path, { env })
}, patienceMs)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await peer.close()
  await home.remove()
  await rm(work, { recursive: true, force: true })
}, patienceMs)

const ask = (...args: string[]) => pawl(home.path, args, { env, cwd: work })
const task = async (id: string) => json<TaskView>(await ask('show', id, '--json'))
const add = async (...args: string[]) => (await ask('task', 'add', ...args)).stdout.trim()
const rested = async (id: string) =>
  until(async () => {
    const now = await task(id)
    return !['queued', 'running', 'parked'].includes(now.state) && now
  }, patienceMs)
const eventsOf = async (id: string): Promise<Event[]> =>
  (await ask('logs', id, '--json')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event)
const tasksOf = (prompt: string) => peer.seen.tasks.filter((words) => words === prompt).length
const messagesOf = (id: string | undefined) => peer.seen.messages.filter((message) => message.task === id)
const remoteTask = (events: readonly Event[]) => {
  const learnt = events.findLast((event) => event.type === 'agent.session')
  return new URLSearchParams((learnt?.data as { vendorId: string } | undefined)?.vendorId.slice(4)).get('task') ?? undefined
}

test('a remote agent is listed with what its card says, and is given tasks like any other: through the door, with files, in one conversation', async () => {
  const shown = (await ask('agents', 'colleague')).stdout
  expect(shown).toContain('Colleague 1.2.0 at')
  expect(shown).toContain('card not signed')

  const notes = join(work, 'notes.txt')
  await writeFile(notes, 'some notes')
  const first = await rested(await add('--agent', 'colleague', '--attach', notes, 'files: forty-two'))
  expect(first).toMatchObject({ state: 'completed', result: { outcome: 'succeeded', text: 'see the file', costUsd: null } })
  expect(peer.seen.messages.at(-1)).toMatchObject({ text: 'files: forty-two', files: ['notes.txt=some notes'] })
  expect((await ask('task', 'artifacts', first.id)).stdout).toMatch(/bashrc[\s\S]*report\.txt/)
  const events = await eventsOf(first.id)
  const { host } = new URL(peer.url)
  expect(events.find(({ type }) => type === 'network.decided')?.data).toMatchObject({ verdict: 'allow', via: 'connect' })
  expect(JSON.stringify(events.filter(({ type }) => type === 'network.decided'))).toContain(host.split(':')[1])

  const second = await rested(await add('--agent', 'colleague', '--session', first.session, 'say: more'))
  expect(second.result?.text).toBe('done: more')
  const contexts = [...events, ...(await eventsOf(second.id))]
    .filter(({ type }) => type === 'agent.session')
    .map(({ data }) => new URLSearchParams((data as { vendorId: string }).vendorId.slice(4)).get('context'))
  expect(new Set(contexts).size).toBe(1)
}, 120_000)

test('its key is shown to it and to nobody else; without it the run says what to do; rules of the profile hold', async () => {
  const well = await rested(await add('--agent', 'guarded', 'say: with a key'))
  expect(well.result).toMatchObject({ outcome: 'succeeded', text: 'done: with a key' })
  expect(JSON.stringify(await eventsOf(well.id))).not.toContain(key)
  const shut = await rested(await add('--agent', 'closed', 'say: nothing'))
  expect(shut.runs[0]).toMatchObject({
    outcome: 'failed',
    category: 'permission_denied',
    message: expect.stringContaining('may not connect to 127.0.0.1'),
  })
  expect(tasksOf('say: nothing')).toBe(0)
}, 120_000)

test('a question of a remote agent blocks the task here, and its answer goes to the same task there', async () => {
  const id = await add('--agent', 'colleague', 'ask: Which colour?')
  const blocked = await rested(id)
  expect(blocked).toMatchObject({ state: 'blocked', questions: [{ text: 'Which colour?', state: 'pending' }] })
  const remote = remoteTask(await eventsOf(id))
  await ask('answer', blocked.questions[0]?.id ?? '', 'blue')
  await until(async () => (await task(id)).state === 'completed', patienceMs)
  expect((await task(id)).result?.text).toBe('You answered: blue')
  expect(messagesOf(remote).map(({ text }) => text)).toEqual(['ask: Which colour?', 'blue'])
}, 120_000)

test('cancelling the task cancels the remote one', async () => {
  const id = await add('--agent', 'colleague', 'wait: for nothing')
  const remote = await until(async () => remoteTask(await eventsOf(id)), patienceMs)
  await ask('task', 'cancel', id)
  await until(async () => (await task(id)).state === 'cancelled', patienceMs)
  await until(() => peer.seen.cancelled.includes(remote), patienceMs)
}, 120_000)

test('a remote agent that is away when its task is cancelled gets the cancel when it is back, once, also by a Pawl that was killed meanwhile', async () => {
  const id = await add('--agent', 'colleague', 'wait: for somebody who is away')
  const remote = await until(async () => remoteTask(await eventsOf(id)), patienceMs)
  peer.leave()
  await ask('task', 'cancel', id)
  await until(async () => (await task(id)).state === 'cancelled', patienceMs)
  const recalls = async () =>
    json<{ items: NotificationView[] }>(await ask('notifications', 'ls', '--task', id, '--json')).items.filter(
      ({ kind }) => kind === 'recall',
    )
  // Tried and not done, so it waits for the next try.
  const waiting = await until(async () => (await recalls()).find(({ lastError }) => lastError !== null), patienceMs)
  expect(waiting).toMatchObject({ target: 'work elsewhere', event: 'task.cancelled', task: id })
  expect(JSON.stringify(await eventsOf(id))).toContain('may still be at work, and is to be cancelled later')
  daemon.process.kill('SIGKILL')
  await daemon.ended
  peer.comeBack()
  expect(peer.seen.cancelled).not.toContain(remote)
  daemon = await serve(home.path, { env })
  await until(async () => (await recalls()).every(({ state }) => state === 'sent'), 120_000)
  expect(peer.seen.cancelled.filter((other) => other === remote)).toHaveLength(1)
  const notes = (await eventsOf(id)).filter(({ type }) => type === 'run.noted')
  expect(notes.at(-1)?.data).toEqual({ code: 'recall', detail: `Task ${remote} of the remote agent is cancelled.` })
  expect(messagesOf(remote)).toHaveLength(1)
}, 240_000)

test('a task that is cancelled while it waits for an answer is cancelled at the remote agent too', async () => {
  const id = await add('--agent', 'guarded', 'ask: Which size?')
  expect((await rested(id)).state).toBe('blocked')
  const remote = remoteTask(await eventsOf(id))
  await ask('task', 'cancel', id)
  await until(() => peer.seen.cancelled.includes(remote ?? ''), patienceMs)
}, 120_000)

test('a daemon that is killed in the middle goes on with the same remote task when it is back, and the result arrives', async () => {
  const prompt = 'wait: the great result'
  const id = await add('--agent', 'colleague', prompt)
  const remote = await until(async () => remoteTask(await eventsOf(id)), patienceMs)
  daemon.process.kill('SIGKILL')
  await daemon.ended
  // The remote agent ends its work while nobody here listens.
  peer.release()
  daemon = await serve(home.path, { env })
  await until(async () => (await task(id)).state === 'completed', 120_000)
  const after = await task(id)
  expect(after.result).toMatchObject({ outcome: 'succeeded', text: 'done: the great result' })
  expect(after.runs.length).toBeGreaterThan(1)
  expect(tasksOf(prompt)).toBe(1)
  expect(messagesOf(remote)).toHaveLength(1)
  expect(remoteTask(await eventsOf(id))).toBe(remote)
}, 240_000)
