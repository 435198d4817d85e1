import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { inspect } from '../../src/daemon/doctor/doctor.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { eventsUntil, loadTestConfig, makeHome, startEngine } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

it('doctor tells of schedules that are not in force, and of accounts that are at a limit', async () => {
  const home = await makeHome()
  const folder = await mkdtemp(join(tmpdir(), 'pawl-doctor-'))
  await chmod(folder, 0o755)
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  await writeFile(join(folder, 'claude'), `#!/bin/sh\nexec "${process.execPath}" "${folder}/fake-claude.js" "$@"\n`, {
    mode: 0o755,
  })
  const settings = join(home.path, 'config.yaml')
  await writeFile(settings, 'schedules:\n  lost: { when: "@daily", agent: demo, workspace: /nowhere/at/all, prompt: look }\n')
  const config = await loadTestConfig(home.path)
  const server = { ...config.server, port: 0 }
  const daemon = await startEngine(home.path, { config: { ...config, server }, http: true })
  onTestFinished(async () => {
    await daemon.stop()
    await home.remove()
    await rm(folder, { recursive: true, force: true })
  })
  const row = async (name: string) => (await inspect(config)).rows.find((one) => one.name === name)
  expect(await row('schedules')).toEqual({
    name: 'schedules',
    level: 'fail',
    detail: expect.stringMatching(/^lost of the settings is not in force: .*nowhere/),
    fix: `correct it in ${settings}, then start the daemon again`,
  })
  expect((await daemon.runtime.health()).schedules.refused).toMatchObject([{ name: 'lost', source: settings }])
  expect(await row('limits')).toMatchObject({ level: 'ok', detail: 'no account is at a limit' })

  const agentConfig = ResolvedAgent.parse({
    name: 'limited',
    adapter: 'claude-code',
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
  })
  const result = "You've hit your weekly limit · resets in 3 days"
  const limit = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result }
  const { task } = await daemon.runtime.createTask({ prompt: JSON.stringify([{ line: limit }]), agentConfig }, { by: 'test' })
  await eventsUntil(daemon, task.id, (event) => event.type === 'task.parked')
  expect(await row('limits')).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/^limited until \d{4}-\d\d-\d\d \d\d:\d\d, in \d d \d\d h: .*weekly limit.* \(1 task waits\)$/),
  })
}, 60_000)
