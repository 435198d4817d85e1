import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl, type Running, serve, startPawl } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
const fakeAgent = join(import.meta.dirname, '..', 'fake-agent', 'fake-agent.js')
const running: Running[] = []

beforeAll(async () => {
  home = await makeHome('pawl-worker-')
  const command = JSON.stringify([process.execPath, fakeAgent])
  await writeFile(
    join(home.path, 'config.yaml'),
    `agents:\n  fake: { adapter: custom, command: ${command}, profile: unattended-open }\n`,
  )
})
afterAll(async () => {
  for (const { process: child, ended } of running) {
    child.kill('SIGTERM')
    await ended
  }
  await home.remove()
}, 60_000)

const ask = (...args: string[]) => pawl(home.path, args)
const task = async (id: string) => json<TaskView>(await ask('show', id, '--json'))

it('a worker takes tasks without HTTP, and when it is killed what it ran goes on elsewhere', { timeout: 180_000 }, async () => {
  const worker = startPawl(home.path, ['worker', '--json'])
  running.push(worker)
  await until(() => worker.stdout().includes('"pid"'), 60_000)
  expect(JSON.parse(worker.stdout())).toMatchObject({ home: home.path, pid: worker.process.pid })
  expect((await ask('open', '--print')).code).not.toBe(0)

  const first = (await ask('task', 'add', '--scratch', '--agent', 'fake', '[{"speak":"done by the worker"}]')).stdout.trim()
  await until(async () => (await task(first)).state === 'completed', 60_000)

  const started = join(home.path, 'started')
  const script = [{ appendLine: { file: started, text: 'run' } }, { sleep: 4_000 }, { speak: 'done after all' }]
  const second = (await ask('task', 'add', '--scratch', '--agent', 'fake', JSON.stringify(script))).stdout.trim()
  await until(async () => (await task(second)).state === 'running', 60_000)
  worker.process.kill('SIGKILL')
  await worker.ended
  running.push(await serve(home.path))
  await until(async () => (await task(second)).state === 'completed', 120_000)
  const after = await task(second)
  expect(after.result?.text).toContain('done after all')
  expect(after.runs.length).toBeGreaterThan(1)

  const another = startPawl(home.path, ['worker'])
  running.push(another)
  await until(() => another.stdout().includes('Pawl takes tasks here'), 60_000)
  another.process.kill('SIGTERM')
  expect((await another.ended).code).toBe(0)
})
