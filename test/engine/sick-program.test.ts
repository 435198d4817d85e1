import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  // Programs that agents may have written are not asked for their version, and those in folders for everybody may be theirs.
  folder = await mkdtemp('/opt/pawl-sick-')
  await chmod(folder, 0o755)
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Crashes when it is to work; `asked` is what it does when it is asked for its version. */
async function crashing(name: string, asked: string) {
  const file = join(folder, name)
  await writeFile(file, `#!/bin/sh\ncase "$1" in --version) ${asked};; esac\ncat >/dev/null\nkill -SEGV $$\n`, { mode: 0o755 })
  const options = { command: [file], versionArgs: ['--version'] }
  const retry = { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 }
  return commandAgent([], { name, profile: 'unattended-open', options, retry })
}
const begin = async (agent: Awaited<ReturnType<typeof crashing>>) =>
  (await daemon.runtime.createTask({ prompt: 'x', agentConfig: agent }, { by: 'test' })).task.id

it('no second try is spent on a program that crashed and is found not to be well, and its agent is shown with what to do', async () => {
  const id = await begin(await crashing('sick', 'echo broken; exit 9'))
  await eventsUntil(daemon, id, isResting)
  const task = await daemon.runtime.getTask(id)
  expect(task.runs.map(({ category }) => category)).toEqual(['crashed', 'bad_config'])
  expect(task.runs[1]!.message).toContain('is not well')
  expect(task.runs[1]!.message).toContain('ended with code 9: broken')
  const record = await until(async () =>
    (await daemon.runtime.health()).agents.find(({ agent, healthy }) => agent === 'sick' && !healthy),
  )
  expect(record).toMatchObject({
    detail: expect.stringContaining('ended with code 9'),
    todo: expect.stringContaining('versionArgs'),
  })
})

it('one that crashed and is well is tried again', async () => {
  const id = await begin(await crashing('well', 'echo 1.0; exit 0'))
  await eventsUntil(daemon, id, isResting)
  const { runs } = await daemon.runtime.getTask(id)
  expect(runs.map(({ category }) => category)).toEqual(['crashed', 'crashed'])
})

it('asking a program that hangs keeps nobody waiting', async () => {
  const id = await begin(await crashing('hanging', 'exec sleep 60'))
  const begun = performance.now()
  await Promise.all(Array.from({ length: 20 }, () => daemon.runtime.health()))
  expect(performance.now() - begun).toBeLessThan(4_500)
  await eventsUntil(daemon, id, isResting)
  expect((await daemon.runtime.getTask(id)).runs.map(({ category }) => category)).toEqual(['crashed', 'bad_config'])
})
