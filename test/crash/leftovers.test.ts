import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, type TestContext, test } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { checkKeys } from './check-sessions.ts'
import { CrashHome } from './home.ts'
import { namesIn, newTask, sessionHome } from './scenario.ts'
import { until } from './wait.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))
const loginFile = '.claude/.credentials.json'
const loginUntil = (expiresAt: number) => JSON.stringify({ claudeAiOauth: { accessToken: 'a-lent-token', expiresAt } })

describe('of a daemon that is killed while a program is logged in', { timeout: 120_000 }, () => {
  test.for([
    ['a lent login', loginFile, true],
    ['a lent login, of a program that outlives the daemon,', loginFile, false],
    ['the script that prints a key', '.pawl-key', true],
  ] as const)('%s is gone when the next daemon of that home has started', async ([, file, walled], context) => {
    const { expect } = context
    const { home, held, userHome } = await killedWhileHeld({ file, walled }, context)
    expect(existsSync(held)).toBe(true)
    expect(checkKeys(home)).not.toEqual([])
    home.startsAgain = true
    await home.start()
    expect(existsSync(held)).toBe(false)
    expect(checkKeys(home)).toEqual([])
    expect(readFileSync(join(userHome, loginFile), 'utf8')).toBe(loginUntil(1))
  })

  test('a lent login is gone soon when another engine works on in that home', async (context) => {
    const { expect } = context
    const { home, held } = await killedWhileHeld({ file: loginFile, walled: true, besideAnother: true }, context)
    await until('the login is gone', 20_000, () => !existsSync(held) && checkKeys(home).length === 0)
    expect(checkKeys(home)).toEqual([])
  })

  test('a login that the program had renewed goes back to where it came from', async (context) => {
    const { expect } = context
    const { home, held, userHome } = await killedWhileHeld({ file: loginFile, walled: true }, context)
    writeFileSync(held, loginUntil(2))
    home.startsAgain = true
    await home.start()
    expect(checkKeys(home)).toEqual([])
    expect(readFileSync(join(userHome, loginFile), 'utf8')).toBe(loginUntil(2))
  })
})

test('what an agent did in a copy comes back when its daemon is killed and the task is cancelled, and no copy stays', {
  timeout: 60_000,
}, async ({ expect, onTestFinished }) => {
  const home = new CrashHome()
  onTestFinished(() => home.close())
  await home.start()
  const workspace = home.userFolder('cancelled')
  const { task } = await home.ask((client) =>
    client.createTask({ ...newTask({ kind: 'ticking', tag: 'cancelled' }), workspace, workspaceMode: 'copy' }),
  )
  const copies = () => namesIn(join(home.dir, 'workspaces'))
  await until('the agent works', 20_000, () =>
    copies().some((name) => existsSync(join(home.dir, 'workspaces', name, 'copy/marks'))),
  )
  expect(existsSync(join(workspace, 'marks'))).toBe(false)
  // What a process of the past was putting there; nobody knows of the second.
  const dead = spawnSync('true').pid
  for (const name of [`trusted.json.${dead}-1-1.tmp`, 'of-a-user.tmp']) writeFileSync(join(home.dir, name), '')
  await home.arm({ name: 'task.cancel.after', victim: 'daemon', skip: 0 })
  await home.ask((client) => client.cancelTask(task.id))
  await until('the task is cancelled', 20_000, async () => {
    const { state } = await home.ask((client) => client.getTask(task.id))
    return state === 'cancelled'
  })
  await until('the copy is gone', 5_000, () => copies().length === 0)
  expect(readdirSync(workspace).toSorted()).toEqual(['lock', 'marks', 'prompt.txt', 'users.txt'])
  expect(readdirSync(home.dir).filter((name) => name.endsWith('.tmp'))).toEqual(['of-a-user.tmp'])
})

/** A home whose daemon died after it had stored that its only task is cancelled, and before it had done so: nothing runs again. */
async function killedWhileHeld(
  { file, walled, besideAnother = false }: { file: string; walled: boolean; besideAnother?: boolean },
  { onTestFinished }: TestContext,
) {
  const userHome = mkdtempSync(join(tmpdir(), 'pawl-user-'))
  const home = new CrashHome()
  onTestFinished(async () => {
    await home.close()
    rmSync(userHome, { recursive: true })
  })
  mkdirSync(join(userHome, '.claude'))
  writeFileSync(join(userHome, loginFile), loginUntil(1))
  Object.assign(home.environment, { HOME: userHome, CRASH_KEY: 'a-key-of-the-crash-tests' })
  await home.start()

  const agentConfig = ResolvedAgent.parse({
    name: 'crash-login',
    adapter: 'claude-code',
    profile: walled ? 'guarded' : 'unattended-open',
    graceMs: 1_000,
    options: { command: fakeClaude },
    ...(file === loginFile ? {} : { auth: { env: ['CRASH_KEY'], via: 'script' } }),
  })
  const { task } = await home.ask((client) => client.createTask({ prompt: '[{"say":"working"},{"hang":true}]', agentConfig }))
  const held = join(sessionHome(home, task), file)
  await until('the program works', 20_000, async () => {
    const { items } = await home.ask((client) => client.readEvents(task.id, { limit: 1_000 }))
    return items.some((event) => event.type === 'agent.message')
  })
  if (besideAnother) {
    const other = await home.startWorker()
    onTestFinished(async () => {
      const left = once(other, 'exit')
      other.kill('SIGTERM')
      await left
    })
  }
  home.startsAgain = false
  await home.arm({ name: 'task.cancel.after', victim: 'daemon', skip: 0 })
  const gone = home.gone()
  const client = await home.client()
  // It dies before it can confirm.
  await client.cancelTask(task.id).catch(() => undefined)
  await gone
  return { home, held, userHome }
}
