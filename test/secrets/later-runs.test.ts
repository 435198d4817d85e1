import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { restoreHome } from '../../src/daemon/restore-home.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { eventsUntil, isResting, loadTestConfig, makeHome, startEngine } from '../engine/home.ts'

/** None of them looks like a key: only knowing them helps. */
const value = (name: string) => `${name} ${randomBytes(9).toString('hex')}`

it('a secret that one run wrote down is raw neither in the events nor in the recording of a later run that was not given it', {
  timeout: 120_000,
}, async () => {
  const home = await makeHome()
  onTestFinished(home.remove)
  const folder = await mkdtemp(join(tmpdir(), 'pawl-later-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777)
  const keyFile = join(home.path, 'provider.key')
  const secrets = { STORED: value('stored'), SERVICE_TOKEN: value('passed'), PROVIDER: value('provider'), FILED: value('filed') }
  await writeFile(keyFile, secrets.FILED, { mode: 0o600 })
  process.env.SERVICE_TOKEN = secrets.SERVICE_TOKEN
  process.env.PROVIDER_API_KEY = secrets.PROVIDER
  onTestFinished(() => {
    delete process.env.SERVICE_TOKEN
    delete process.env.PROVIDER_API_KEY
  })
  const agent = (script: string, more: object = {}) => ({ adapter: 'custom', command: ['sh', '-c', script], ...more })
  const settings = {
    agents: {
      writer: agent('cat > /dev/null; printf "%s\\n%s\\n" "$STORED" "$SERVICE_TOKEN" > written', {
        profile: 'given',
        env: ['SERVICE_TOKEN'],
      }),
      reader: agent('cat > /dev/null; cat written told'),
      keyed: agent('true', { auth: { file: keyFile } }),
    },
    profiles: { given: { extends: 'guarded', secrets: ['STORED'] } },
    providers: { elsewhere: { kind: 'anthropic', key: { env: 'PROVIDER_API_KEY' } } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings))
  const daemon = await startEngine(home.path)
  onTestFinished(() => daemon.stop())
  await daemon.secrets.setSecret('global', 'STORED', secrets.STORED, { by: 'test' })
  const ran = async (name: string, how: { record?: boolean }): Promise<{ run: string; events: Event[] }> => {
    const { task } = await daemon.runtime.createTask({ prompt: 'go', agent: name, workspace: folder, ...how }, { by: 'test' })
    const events = await eventsUntil(daemon, task.id, isResting, 60_000)
    expect(events.at(-1)?.type, JSON.stringify(events)).toBe('task.completed')
    return { run: (await daemon.runtime.getTask(task.id)).runs[0]!.id, events }
  }

  await ran('writer', {})
  expect(await readFile(join(folder, 'written'), 'utf8')).toContain(secrets.STORED)
  await writeFile(join(folder, 'told'), `${secrets.PROVIDER}\n${secrets.FILED}\n`)
  const { run, events } = await ran('reader', { record: true })

  const recording = join(home.path, 'recordings', run)
  expect(existsSync(join(recording, 'files'))).toBe(true)
  const kept = [await readFile(join(recording, 'recording.jsonl'), 'utf8')]
  for (const name of await readdir(join(recording, 'files'))) kept.push(await readFile(join(recording, 'files', name), 'utf8'))
  for (const [name, secret] of Object.entries(secrets)) {
    expect(
      kept.filter((text) => text.includes(secret)),
      `${name} in the recording`,
    ).toEqual([])
    expect(JSON.stringify(events).includes(secret), `${name} in the events`).toBe(false)
  }
  // Not because nothing was kept.
  expect(kept.join('\n')).toContain('[redacted:STORED]')
  expect(JSON.stringify(events)).toContain('[redacted:STORED]')
})

it('a backup without keys holds no secret that an agent wrote down, and one with keys leaves the files as they are', {
  timeout: 60_000,
}, async () => {
  const home = await makeHome()
  onTestFinished(home.remove)
  const daemon = await startEngine(home.path)
  onTestFinished(() => daemon.stop())
  const secret = value('stored')
  await daemon.secrets.setSecret('global', 'STORED', secret, { by: 'test' })
  const planted = `${'x'.repeat((1 << 20) - 7)}${secret}\nrest`
  for (const folder of ['quarantine/r_1', 'recordings/r_1', 'workspaces/t_1', 'runs/r_1']) {
    await mkdir(join(home.path, folder), { recursive: true })
    await writeFile(join(home.path, folder, 'file'), planted)
  }
  const restored = async (withKeys: boolean) => {
    const other = await mkdtemp(join(tmpdir(), 'pawl-restored-'))
    onTestFinished(() => rm(other, { recursive: true, force: true }))
    const file = join(home.path, `${withKeys}.pawl`)
    await daemon.runtime.createBackup({ file, withKeys, withWorkspaces: true, withLogs: true }, { by: 'test' })
    await restoreHome({ config: await loadTestConfig(other), file, log: silentLog })
    const folders = ['quarantine/r_1', 'recordings/r_1', 'workspaces/t_1', 'runs/r_1']
    return Promise.all(folders.map((folder) => readFile(join(other, folder, 'file'), 'utf8')))
  }
  for (const text of await restored(false)) {
    expect(text.includes(secret)).toBe(false)
    expect(text).toMatch(/x\[redacted:STORED\]\**\nrest$/)
    expect(text.length).toBe(planted.length)
  }
  for (const text of await restored(true)) expect(text === planted).toBe(true)
})
