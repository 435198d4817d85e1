import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { openRuntime } from '../../src/daemon/daemon.ts'
import { resolveProfile, rightsOf } from '../../src/domain/profile/resolve.ts'
import { openStore } from '../../src/store/open.ts'
import { findTask } from '../../src/store/tasks.ts'
import { pawl } from '../e2e/pawl.ts'
import { loadTestConfig, makeHome } from './home.ts'

/** What a stored task's runs may do. */
async function storedRights(home: string, task: string) {
  const store = await openStore({ home, url: undefined, log: silentLog })
  try {
    const { agent_config: agent } = (await findTask(store.database.db, task))!
    return { name: agent.profile, isCopied: agent.rights !== undefined, rights: rightsOf(agent) }
  } finally {
    await store.close()
  }
}

async function homeWith(settings: string) {
  const home = await makeHome()
  onTestFinished(() => home.remove())
  await writeFile(join(home.path, 'config.yaml'), settings)
  return home.path
}

it('a task may name a profile of the daemon, which is stored whole with it', async () => {
  const home = await homeWith('profiles: { mine: { instructions: false } }\nagents: { demo: { profile: mine } }\n')
  const { runtime, stop } = await openRuntime({ config: await loadTestConfig(home), log: silentLog })
  onTestFinished(stop)
  const make = async (profile?: string) => {
    const { task } = await runtime.createTask({ prompt: 'x', agent: 'demo', ...(profile ? { profile } : {}) }, { by: 'test' })
    return storedRights(home, task.id)
  }
  const mine = { name: 'mine', isCopied: true, rights: resolveProfile('mine', { mine: { instructions: false } }) }
  expect(await make()).toEqual(mine)
  expect(await make('mine')).toEqual(mine)
  expect(await make('strict')).toEqual({ name: 'strict', isCopied: false, rights: resolveProfile('strict') })
  await expect(make('mien')).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('did you mean "mine"?') })
  expect((await runtime.listProfiles()).map((profile) => profile.name)).toContain('mine')
})

it('the profile of a trusted folder goes with a task that is asked for there; an unknown one is a mistake of usage', async () => {
  const home = await homeWith('')
  const folder = join(home, 'project')
  await mkdir(join(folder, '.git'), { recursive: true })
  await writeFile(
    join(folder, 'pawl.yaml'),
    'profiles: { tight: { extends: strict, limits: { memory: 1g } }, open: { extends: unattended-open } }\n',
  )
  const add = (profile: string, ...more: string[]) =>
    pawl(home, ['task', 'add', '--agent', 'demo', '--profile', profile, ...more, 'x'], { cwd: folder })

  const untrusted = await add('tight')
  expect([untrusted.code, untrusted.stderr]).toEqual([2, expect.stringContaining('There is no profile "tight"')])
  const made = await add('tight', '--trust')
  expect([made.code, made.stderr]).toEqual([0, expect.not.stringContaining('NO WALLS')])
  expect(await storedRights(home, made.stdout.trim())).toMatchObject({
    name: 'tight',
    rights: { base: 'strict', limits: { memoryMb: 1024 } },
  })
  const open = await add('open', '--trust', '--quiet')
  expect([open.code, open.stderr]).toEqual([0, expect.stringContaining('NO WALLS: under the profile open')])
})
