import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { type A2AStage, script, startA2A } from '../a2a/stage.ts'
import { remoteFailpoints } from '../crash/failpoints.ts'
import { json, pawl, type Running, serve } from '../e2e/pawl.ts'
import { makeHome, until } from '../engine/home.ts'

const patienceMs = 90_000

let there: A2AStage
let home: Awaited<ReturnType<typeof makeHome>>
let work: string
let here: Running
let env: Record<string, string>

beforeAll(async () => {
  there = await startA2A()
  env = { OTHER_PAWL: there.token() }
  home = await makeHome('pawl-a2a-here-')
  work = await mkdtemp(join(tmpdir(), 'pawl-a2a-work-'))
  const agent = {
    adapter: 'a2a',
    url: `${there.url()}/a2a/agents/fake`,
    auth: { env: ['OTHER_PAWL'] },
    verify: 'required',
    metadata: there.inWorkspace,
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents: { other: agent } }), { mode: 0o600 })
  here = await serve(home.path, { env })
}, patienceMs)
afterAll(async () => {
  here.process.kill('SIGTERM')
  await here.ended
  await there.stop()
  await home.remove()
  await rm(work, { recursive: true, force: true })
}, patienceMs)

const ask = (...args: string[]) => pawl(home.path, args, { env, cwd: work })
const task = async (id: string) => json<TaskView>(await ask('show', id, '--json'))
const add = async (...steps: Record<string, unknown>[]) =>
  (await ask('task', 'add', '--agent', 'other', script(...steps))).stdout.trim()
const inState = (id: string, state: string) =>
  until(async () => {
    const now = await task(id)
    if (now.state === 'failed' && state !== 'failed') throw new Error(`${id} failed: ${now.runs.at(-1)?.message}`)
    return now.state === state && now
  }, patienceMs)
/** What the other Pawl has been asked. */
const tasksThere = async () => {
  const response = await fetch(`${there.url()}/api/v1/tasks?limit=100`, { headers: { Authorization: `Bearer ${there.token()}` } })
  return ((await response.json()) as { items: TaskView[] }).items
}

/** Asks the first time that it is told, and is done when it is told more. */
const asking = [{ ask: { text: 'Which colour?', options: ['blue', 'red'] } }]

test('Pawl gives a task to another Pawl, whose card is signed; its question is asked here, and its answer goes there', async () => {
  const id = await add(...asking)
  const { questions } = await inState(id, 'blocked')
  expect(questions).toMatchObject([
    { text: expect.stringContaining('Which colour?'), options: ['blue', 'red'], state: 'pending' },
  ])
  await ask('answer', questions[0]?.id ?? '', script({ speak: 'blue it is' }))
  expect((await inState(id, 'completed')).result?.text).toContain('blue it is')
  const [only, ...others] = await tasksThere()
  expect(others).toEqual([])
  expect(only).toMatchObject({ state: 'completed' })
}, 180_000)

test('either of them is killed in the middle: there is one task there, and its result arrives here', async () => {
  for (const killed of ['here', 'there'] as const) {
    const before = (await tasksThere()).length
    const id = await add({ speak: 'begun' }, { sleep: 6_000 }, { speak: `done although ${killed} was killed` })
    await until(async () => (await tasksThere()).find(({ state }) => state === 'running'), patienceMs)
    await until(async () => (await ask('logs', id, '--json')).stdout.includes('"agent.session"'), patienceMs)
    if (killed === 'here') {
      here.process.kill('SIGKILL')
      await here.ended
      here = await serve(home.path, { env })
    } else {
      await there.kill()
      await there.start()
    }
    const done = await inState(id, 'completed')
    expect(done.result?.text).toContain(`done although ${killed} was killed`)
    expect((await tasksThere()).length).toBe(before + 1)
  }
}, 300_000)

test('a daemon that dies about storing the id of the task there makes no second one: the same message is sent, and known', async () => {
  for (const point of remoteFailpoints) {
    here.process.kill('SIGTERM')
    await here.ended
    here = await serve(home.path, { env: { ...env, PAWL_FAILPOINT: `${point}=kill` } })
    const before = (await tasksThere()).length
    const id = await add({ speak: `done at ${point}` })
    await here.ended
    here = await serve(home.path, { env })
    expect((await inState(id, 'completed')).result?.text).toContain(`done at ${point}`)
    expect((await tasksThere()).length).toBe(before + 1)
  }
}, 300_000)
