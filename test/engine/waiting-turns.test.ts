import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const create = async (script: string, task: Partial<NewTask> = {}) => {
  const agentConfig = commandAgent(['/bin/sh', '-c', script])
  return (await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, { by: 'test' })).task
}
const begun = (id: string) => eventsUntil(daemon, id, (event) => event.type === 'agent.message')
const rest = (id: string) => eventsUntil(daemon, id, isResting)
const untilFinish = 'echo begun; while [ ! -e finish ]; do sleep 0.02; done; echo done'
const letFinish = ({ workspace }: { workspace: string }) => writeFile(join(workspace, 'finish'), '')

it('a run that is to be tried again waits 5 s, says so, and a cancel ends the waiting at once', async () => {
  const refused = { type: 'result', subtype: 'success', is_error: true, api_error_status: 529, result: 'Overloaded' }
  const agentConfig = ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    options: { command: fakeClaude },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
  })
  const prompt = JSON.stringify([{ line: refused }])
  const { task } = await daemon.runtime.createTask({ prompt, agentConfig }, { by: 'test' })
  const parked = (await rest(task.id)).at(-1)
  if (parked?.type !== 'task.parked') throw new Error(`${parked?.type} came instead`)
  expect(parked.data).toMatchObject({ kind: 'backoff', detail: 'Overloaded' })
  const waitMs = Date.parse(parked.data.until) - Date.parse(parked.at)
  expect(waitMs).toBeGreaterThan(4_900)
  expect(waitMs).toBeLessThan(6_300)
  const cancelled = await daemon.runtime.cancelTask(task.id, { now: false, by: 'test' })
  expect(cancelled).toMatchObject({ state: 'cancelled', reason: { kind: 'cancelled' }, runs: [{ category: 'overloaded' }] })
})

it('a cancel that comes too late does not hit the next task of the session', async () => {
  const first = await create('echo done')
  await rest(first.id)
  const second = await create(untilFinish, { session: first.session })
  await begun(second.id)
  expect(await daemon.runtime.cancelTask(first.id, { now: true, by: 'test' })).toMatchObject({ state: 'completed' })
  await letFinish(second)
  expect((await rest(second.id)).at(-1)?.type).toBe('task.completed')
})

it('tasks that wait for their session are counted, and run in the order in which they came', async () => {
  const first = await create(untilFinish)
  await begun(first.id)
  const waiting = [
    first,
    await create('echo two', { session: first.session }),
    await create('echo three', { session: first.session }),
  ]
  expect((await daemon.runtime.health()).tasks).toMatchObject({ running: 1, queued: 2 })
  await letFinish(first)
  const ends = await Promise.all(waiting.map(async ({ id }) => (await rest(id)).at(-1)))
  expect(ends.map((event) => event?.type)).toEqual(waiting.map(() => 'task.completed'))
  const times = ends.map((event) => Date.parse(event?.at ?? ''))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

it('an answer is told when its session is free', async () => {
  const first = await create(untilFinish)
  await begun(first.id)
  const second = await create('echo two', { session: first.session })
  const reason = async () => (await daemon.runtime.getTask(second.id)).reason
  expect(await reason()).toEqual({ kind: 'session', detail: first.id })
  await letFinish(first)
  expect((await rest(first.id)).at(-1)?.type).toBe('task.completed')
  expect(await reason()).toBeNull()
  await rest(second.id)
})
