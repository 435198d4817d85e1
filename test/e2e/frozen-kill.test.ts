import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { git, repository } from '../../src/engine/workspace/testing.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { serve } from './pawl.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

test('a daemon that is killed while a program of its waits frozen leaves nothing that wakes up, and the next one tidies what it kept for it', {
  timeout: 120_000,
}, async () => {
  const home = await makeHome()
  onTestFinished(home.remove)
  const made = async (name: string) => {
    const folder = await mkdtemp(join(tmpdir(), name))
    await chmod(folder, 0o755)
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return folder
  }
  const programs = await made('pawl-frozen-program-')
  const workspace = join(await made('pawl-frozen-space-'), 'space')
  await copyFile(fakeClaude, join(programs, 'fake-claude.js'))
  const script = `#!/bin/sh\nexec "${process.execPath}" "${programs}/fake-claude.js" "$@"\n`
  await writeFile(join(programs, 'claude'), script, { mode: 0o755 })
  await repository(workspace, { 'a.txt': 'a' })
  execFileSync('chmod', ['-R', 'a+rwX', workspace])
  const helper = { adapter: 'claude-code', command: join(programs, 'claude'), model: 'a-model', gateway: false }
  const settings = { agents: { helper: { ...helper, env: ['ANTHROPIC_API_KEY'] } } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings))
  const env = { ANTHROPIC_API_KEY: 'key-0123456789' }
  const first = await serve(home.path, { env })
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${first.token}`, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await (await fetch(`${first.url}/api/v1${path}`, { method, headers, ...init })).json()) as T
  }

  // Its timer is due while it is frozen.
  const files = Object.fromEntries(['.vscode/tasks.json', '.envrc', '.git/hooks/post-checkout'].map((path) => [path, 'evil']))
  const prompt = JSON.stringify([{ plant: { afterMs: 1_000, files } }, { say: 'done' }])
  const { id } = await ask<TaskView>('POST', '/tasks', { agent: 'helper', prompt, workspace })
  await until(async () => (await ask<TaskView>('GET', `/tasks/${id}`)).state === 'completed', 60_000)
  const { warm } = await ask<{ warm: { pid: number }[] }>('GET', '/health')
  expect(warm).toHaveLength(1)
  expect(readdirSync(join(home.path, 'parked'))).toHaveLength(1)

  first.process.kill('SIGKILL')
  await first.ended
  await until(() => !existsSync(`/proc/${warm[0]!.pid}`), 5_000)
  await pause(1_500)
  expect(readdirSync(workspace).toSorted()).toEqual(['.git', 'a.txt'])
  expect(git(workspace, 'status', '--porcelain')).toBe('')

  // It says where the dead one listened.
  await rm(join(home.path, 'run.json'))
  const second = await serve(home.path, { env })
  await until(() => readdirSync(join(home.path, 'parked')).length === 0)
  expect(readdirSync(workspace).toSorted()).toEqual(['.git', 'a.txt'])
  expect(existsSync(join(workspace, '.git/hooks/post-checkout'))).toBe(false)
  second.process.kill('SIGTERM')
  await second.ended
})
