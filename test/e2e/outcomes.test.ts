import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TaskSummary, TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl, type Running, serve } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Running | undefined
const fakeAgent = join(import.meta.dirname, '..', 'fake-agent', 'fake-agent.js')

beforeAll(async () => {
  home = await makeHome('pawl-outcomes-')
  const command = JSON.stringify([process.execPath, fakeAgent])
  await writeFile(
    join(home.path, 'config.yaml'),
    `agents:\n  fake: { adapter: custom, command: ${command}, profile: unattended-open }\n`,
  )
  daemon = await serve(home.path)
}, 120_000)
afterAll(async () => {
  daemon?.process.kill('SIGTERM')
  await daemon?.ended
  await home.remove()
}, 60_000)

const ask = (...args: string[]) => pawl(home.path, args)
const show = async (id: string) => json<TaskView>(await ask('show', id, '--json'))
const add = async (script: object[], ...options: string[]) =>
  (await ask('task', 'add', '--scratch', '--agent', 'fake', ...options, JSON.stringify(script))).stdout.trim()
const lineOf = async (id: string) => (await ask('ls')).stdout.split('\n').find((line) => line.startsWith(id.slice(-6)))
const half = '---\nrequest_status: PARTIAL\ncomments: two of the three files\n---'

it('a part of the work is shown as one, and what depends on it waits for a person', { timeout: 180_000 }, async () => {
  const first = await add([{ speak: half }])
  const second = await add([{ speak: 'went on' }], '--depends-on', first)
  const eager = await add([{ speak: 'went on anyway' }], '--depends-on', first, '--accept-partial')
  const waited = await ask('task', 'wait', first, second)
  expect(waited.stdout).toMatch(new RegExp(`${first} {2}completed \\(partial\\)`))
  expect(waited.code).not.toBe(0)
  expect(await lineOf(first)).toContain('completed (partial)')
  expect(await lineOf(second)).toContain('blocked: dependency_partial')
  const told = await ask('show', second)
  expect(told.stdout).toMatch(
    /blocked \(dependency_partial: .*did only a part of its work: The agent says: two of the three files/,
  )
  expect(told.stdout).toContain('(completed (partial))')
  expect(told.stderr).toContain(`pawl task retry ${second.slice(-6)}`)
  expect(told.stderr).toContain(`pawl task retry ${first.slice(-6)}`)
  await until(async () => (await show(eager)).state === 'completed', 60_000)
  expect((await show(second)).runs).toEqual([])

  expect((await ask('task', 'retry', second)).code).toBe(0)
  await until(async () => (await show(second)).state === 'completed', 60_000)
  expect((await show(second)).result?.text).toContain('went on')
})

it('without a daemon a task whose process is gone is not said to run', { timeout: 180_000 }, async () => {
  const id = await add([{ hang: true }])
  await until(async () => (await show(id)).state === 'running', 60_000)
  expect(await lineOf(id)).toContain('running')
  daemon!.process.kill('SIGKILL')
  await daemon!.ended
  expect(await lineOf(id)).toContain('interrupted (no daemon)')
  expect((await ask('show', id)).stdout).toContain('interrupted (no daemon)')
  const { items } = json<{ items: TaskSummary[] }>(await ask('ls', '--json'))
  expect(items.find((task) => task.id === id)).toMatchObject({ state: 'running', interrupted: true })

  daemon = await serve(home.path)
  expect(await lineOf(id)).not.toContain('interrupted')
  await ask('cancel', id, '--now')
})
