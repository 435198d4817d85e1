import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { adapters, presets } from '../../src/agents/index.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { eventsUntil, isResting, makeHome, startEngine, until } from '../engine/home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let removeFolder: () => Promise<void>
let folder: string
let config: Config
let daemon: Daemon

const load = () =>
  loadConfig({
    adapters,
    presets,
    cwd: folder,
    env: { HOME: home.path, PATH: process.env.PATH },
    flags: { home: home.path, config: join(folder, 'config.yaml'), trust: true },
  })

beforeAll(async () => {
  home = await makeHome()
  const place = await makeHome('pawl-seed-', { bare: true })
  removeFolder = place.remove
  folder = join(place.path, 'backend')
  await cp(join(import.meta.dirname, 'molecule'), folder, { recursive: true })
  config = await load()
  daemon = await startEngine(home.path, { config })
}, 60_000)
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await removeFolder()
})

const tasksOf = async (prompt: string) =>
  (await daemon.runtime.listTasks({ limit: 200 })).items.filter((task) => task.prompt === prompt)

it('the config.yaml of a workspace is an agent that runs with all its prompts, its model and its own arguments', async () => {
  const { task } = await daemon.runtime.createTask(
    { prompt: 'Fix the build.', agent: 'Backend-Engineer', workspace: folder },
    { by: 'test' },
  )
  await eventsUntil(daemon, task.id, isResting)
  const done = await daemon.runtime.getTask(task.id)
  expect(done.reason).toBeNull()
  expect([done.state, done.settings.profile, done.settings.timeoutMs]).toEqual(['completed', 'guarded', 300_000])
  expect(done.result?.text.split('\n')).toEqual([
    'sonnet',
    '-p',
    'You are the backend engineer of the shop.',
    '',
    'Never push to main.',
    '',
    'Fix the build.',
  ])
})

it('its idle prompt is sent when nothing is to be done, and its initial prompt once, also after another start', async () => {
  await until(async () => ((await tasksOf('Look for work that nobody has taken.')).length > 0 ? true : undefined))
  const initial = await until(async () => (await tasksOf('Introduce yourself.')).find(({ state }) => state === 'completed'))
  expect([initial.agent, initial.workspace]).toEqual(['Backend-Engineer', folder])
  const idle = (await tasksOf('Look for work that nobody has taken.')).length
  await daemon.stop()
  daemon = await startEngine(home.path, { config: await load() })
  // Another idle prompt shows that the schedules were looked at since.
  await until(async () => ((await tasksOf('Look for work that nobody has taken.')).length > idle ? true : undefined))
  expect(await tasksOf('Introduce yourself.')).toHaveLength(1)
}, 60_000)
