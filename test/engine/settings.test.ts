import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { makeHome, startEngine } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let file: string
let daemon: Daemon
const written = `# Kept by hand.
agents:
  helper: { adapter: custom, command: [cat], modelVariable: MODEL, profile: unattended-open } # ours

limits:
  running: 2 # two cores
env: { B_VALUE: quiet-please }
`
beforeAll(async () => {
  home = await makeHome()
  file = join(home.path, 'config.yaml')
  await writeFile(file, written, { mode: 0o600 })
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const caller = { by: 'test' }
const text = () => readFile(file, 'utf8')
const rowOf = async (path: string) => (await daemon.runtime.getSettings()).settings.find((row) => row.path === path)

it('shows every setting with where it was decided, what it means and when a change counts', async () => {
  expect(await rowOf('limits.running')).toEqual({
    path: 'limits.running',
    value: 2,
    source: expect.stringMatching(/config\.yaml:6$/),
    effect: 'now',
    isWritten: true,
    about: 'How many runs at once.',
  })
  expect(await rowOf('retry.attempts')).toMatchObject({ value: 3, source: 'default', effect: 'new tasks' })
  expect(await rowOf('server.port')).toMatchObject({ effect: 'restart' })
  expect(await rowOf('home')).toMatchObject({ isWritten: false })
})

it('a change is checked, written with all comments, in force at once, in the audit without its value, and can be undone', async () => {
  const before = (await daemon.runtime.getSettings()).hash
  const changed = await daemon.runtime.changeSettings(
    { set: { 'limits.running': 7, 'agents.helper.model': 'm-1', 'env.A_VALUE': 'hush-hush' }, hash: before },
    caller,
  )
  expect(changed.changed).toEqual(
    expect.arrayContaining([
      { path: 'limits.running', before: 2, after: 7, effect: 'now' },
      { path: 'agents.helper.model', before: null, after: 'm-1', effect: 'new tasks' },
    ]),
  )
  expect(changed.restart).toBe(true)
  expect(await text()).toContain('# Kept by hand.')
  expect(await text()).toContain('running: 7 # two cores')
  expect(await text()).toContain('# ours')
  expect(await rowOf('limits.running')).toMatchObject({ value: 7 })
  const { waiting, canUndo, settings } = await daemon.runtime.getSettings()
  expect(waiting.map(({ path }) => path)).toContain('env.set.A_VALUE')
  expect(JSON.stringify([waiting, settings])).not.toContain('hush-hush')
  expect(canUndo).toBe(true)
  const made = await daemon.runtime.createTask({ prompt: 'x', agent: 'helper' }, caller)
  expect(made.task.settings.model).toBe('m-1')
  const [entry] = (await daemon.audit.list({ limit: 1, action: 'settings.change' })).items
  expect(entry).toMatchObject({ detail: { before, after: changed.hash } })
  expect(JSON.stringify(entry)).not.toContain('hush-hush')

  await expect(daemon.runtime.changeSettings({ set: { 'limits.running': 1 }, hash: before }, caller)).rejects.toThrow(
    /somebody else/,
  )
  await daemon.runtime.undoSettings(caller)
  expect(await text()).toBe(written)
  expect(await rowOf('limits.running')).toMatchObject({ value: 2 })
  await daemon.runtime.undoSettings(caller)
  expect(await text()).toContain('running: 7')
  await daemon.runtime.undoSettings(caller)
})

it('that a secret is another one now is told, and that it needs a restart; only what it is is not', async () => {
  const changed = await daemon.runtime.changeSettings({ set: { 'env.B_VALUE': 'quiet-again' } }, caller)
  expect(changed).toMatchObject({ changed: [{ path: 'env.set.B_VALUE', before: '***', after: '***' }], restart: true })
  expect((await daemon.runtime.getSettings()).waiting).toEqual([{ path: 'env.set.B_VALUE', value: '***' }])
  await daemon.runtime.undoSettings(caller)
})

it.each([
  [{ set: { 'limits.runing': 4 } }, /Unknown key "runing" at limits.*did you mean "running"/],
  [{ set: { 'limits.running': 0 } }, /limits\.running.*at least 1/],
  [{ set: { 'agents.helper.profile': 'nowhere' } }, /nowhere/],
  [{ set: { 'limits.running.deep': 4 } }, /has a value of its own/],
  [{ set: { 'a b': 4 } }, /no path of a setting/],
  [{ set: { 'models["\\x"].provider': 4 } }, /no path of a setting/],
  [{ unset: ['limits.warm'] }, /is not set in this file/],
])('what would not work is refused and nothing is written: %j', async (change, message) => {
  await expect(daemon.runtime.changeSettings(change, caller)).rejects.toThrow(message)
  expect(await text()).toBe(written)
})

it('a setting is taken out with the block that it leaves empty, and what was written by hand is taken up when asked', async () => {
  await daemon.runtime.changeSettings({ unset: ['limits.running'] }, caller)
  expect(await text()).not.toContain('limits')
  expect(await rowOf('limits.running')).toMatchObject({ value: 4, source: 'default' })
  await writeFile(file, `${written}budget: { day: 3 }\n`)
  expect((await daemon.runtime.getSettings()).waiting).toContainEqual({ path: 'budget.day', value: 3 })
  expect((await daemon.runtime.changeSettings({}, caller)).changed.map(({ path }) => path)).toContain('budget.day')
  expect((await daemon.runtime.listCosts({})).caps.dayUsd).toBe(3)
  await writeFile(file, 'limits: [')
  expect((await daemon.runtime.getSettings()).problem).toMatch(/not valid YAML/)
  await writeFile(file, written)
})
