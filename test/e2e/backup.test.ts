import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { BackupView } from '../../src/domain/view/backup.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { commandFailpoints } from '../crash/failpoints.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl, type Running, serve } from './pawl.ts'

const script = (text: string) => ({ adapter: 'custom', command: ['/bin/sh', '-c', text], profile: 'unattended-open' })
const ask = `curl -s -o /dev/null -H "authorization: Bearer $PAWL_DOOR_TOKEN" -d '{"text":"Which colour?"}' "$PAWL_DOOR_URL/v1/questions"`
const agents = {
  helper: script('cat'),
  asker: script(
    `prompt=$(cat); case "$prompt" in *"The answer"*) echo "$prompt" | grep -A2 "The answer" | tail -1 ;; *) ${ask} ;; esac`,
  ),
  // Goes on only where it finds its own folder as it left it.
  slow: script('if [ -e begun ]; then echo went on; else touch begun; sleep 300; fi'),
}

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))
const limitedBy = (folder: string) => ({
  adapter: 'claude-code',
  command: join(folder, 'claude'),
  env: ['ANTHROPIC_API_KEY'],
  profile: 'unattended-open',
})
const env = { ANTHROPIC_API_KEY: 'key-0123456789' }
const limit = {
  type: 'result',
  subtype: 'success',
  is_error: true,
  api_error_status: 429,
  result: 'Usage limit reached · resets in 3 days',
}

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Running & { url: string; token: string }
const api = async <T>(at: { url: string; token: string }, method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await fetch(`${at.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json', accept: 'application/json' },
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return JSON.parse(text) as T
}
const isIn = async (at: { url: string; token: string }, id: string, state: string) =>
  until(async () => {
    const task = await api<TaskView>(at, 'GET', `/tasks/${id}`)
    return task.state === state && task
  }, 40_000)

const tasks: Record<string, TaskView> = {}
beforeAll(async () => {
  home = await makeHome()
  folder = await mkdtemp(join(tmpdir(), 'pawl-backups-'))
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents: { ...agents, limited: limitedBy(folder) } }))
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  const program = `#!/bin/sh\nexec "${process.execPath}" "${folder}/fake-claude.js" "$@"\n`
  await writeFile(join(folder, 'claude'), program, { mode: 0o755 })
  daemon = await serve(home.path, { env })
  for (const agent of Object.keys(agents))
    tasks[agent] = await api<TaskView>(daemon, 'POST', '/tasks', { agent, prompt: `for ${agent}`, tags: ['kept'] })
  const prompt = JSON.stringify([{ line: limit }])
  tasks.limited = await api<TaskView>(daemon, 'POST', '/tasks', { agent: 'limited', prompt })
  await api(daemon, 'POST', '/schedules', {
    name: 'nightly',
    when: { kind: 'every', everyMs: 86_400_000 },
    task: { prompt: 'again', agent: 'helper' },
  })
  await api(daemon, 'PUT', '/secrets/global/TOKEN_OF_MINE', { value: 'very-secret-value-123' })
  await isIn(daemon, tasks.helper!.id, 'completed')
  await isIn(daemon, tasks.asker!.id, 'blocked')
  tasks.limited = await isIn(daemon, tasks.limited!.id, 'parked')
  const { workspace } = await isIn(daemon, tasks.slow!.id, 'running')
  await until(() => readFile(join(workspace, 'begun')).catch(() => undefined))
}, 120_000)
afterAll(async () => {
  await pawl(home.path, ['stop'])
  await rm(folder, { recursive: true, force: true })
  await home.remove()
})

it('all of a home that works goes into one file and comes back elsewhere, where every task goes on', {
  timeout: 240_000,
}, async () => {
  const file = join(folder, 'all.pawl')
  const taken = await pawl(home.path, ['backup', file, '--with-keys', '--with-workspaces', '--json'])
  expect(json(taken)).toMatchObject({ file, withKeys: true, tables: expect.any(Number) })
  expect((await pawl(home.path, ['backup', file])).stderr).toContain('is there already')
  expect((await pawl(home.path, ['backup', 'verify', file])).code).toBe(0)

  const other = await makeHome(undefined, { bare: true })
  try {
    const restored = await pawl(other.path, ['restore', file, '--json'])
    expect(json(restored)).toMatchObject({ home: other.path, audit: { isWhole: true }, sealedSecrets: 0 })
    expect((await pawl(other.path, ['restore', file])).stderr).toContain('This database is in use (it has tasks)')
    const there = await serve(other.path, { env })
    const events = (at: typeof there, id: string) => api<{ items: unknown[] }>(at, 'GET', `/tasks/${id}/events?limit=500`)
    expect(await events(there, tasks.helper!.id)).toEqual(await events(daemon, tasks.helper!.id))

    const parked = await api<TaskView>(there, 'GET', `/tasks/${tasks.limited!.id}`)
    expect(parked).toMatchObject({ state: 'parked', resumeAt: tasks.limited!.resumeAt, reason: { kind: 'usage_limit' } })
    await api(there, 'POST', `/tasks/${parked.id}/resume`, {})
    await until(async () => (await api<TaskView>(there, 'GET', `/tasks/${parked.id}`)).runs.length === parked.runs.length + 1)
    const [question] = (await api<TaskView>(there, 'GET', `/tasks/${tasks.asker!.id}`)).questions
    await api(there, 'POST', `/questions/${question!.id}/answer`, { answer: 'green' })
    expect((await isIn(there, tasks.asker!.id, 'completed')).result?.text).toBe('green')
    // Its run was lost with its worker, as far as this home knows, and costs no attempt; what runs in the other home is left alone.
    expect(await isIn(there, tasks.slow!.id, 'completed')).toMatchObject({
      result: { text: 'went on' },
      workspace: expect.stringContaining(other.path),
      runs: expect.arrayContaining([expect.objectContaining({ outcome: 'lost' })]),
    })
    expect(await api(daemon, 'GET', `/tasks/${tasks.slow!.id}`)).toMatchObject({ state: 'running', runs: [{ outcome: null }] })

    // A reader that begins anew hears of everything, also of what happened in another server's transactions.
    const feed = await api<{ items: { task: string }[] }>(there, 'GET', '/events?after=0&limit=500')
    expect(new Set(feed.items.map(({ task }) => task))).toEqual(new Set(Object.values(tasks).map(({ id }) => id)))
    expect(await api(there, 'GET', '/schedules/nightly')).toMatchObject({ name: 'nightly', state: 'active' })
    await pawl(other.path, ['stop'])
    // Sealing them anew opens each of them first.
    expect((await pawl(other.path, ['secret', 'rekey'])).stderr).toContain('1 secrets are sealed with the new key')
  } finally {
    await pawl(other.path, ['stop'])
    await other.remove()
  }
})

it('a backup comes back into a database of one’s own, where a daemon with that address goes on; one that is in use is refused', {
  timeout: 180_000,
}, async () => {
  const file = join(folder, 'own.pawl')
  expect((await pawl(home.path, ['backup', file, '--with-keys'])).code).toBe(0)
  const [server, other] = [await makeHome('pawl-test-', { bare: true }), await makeHome()]
  const database = await openEmbedded({ home: server.path, log: silentLog })
  const url = `postgres://pawl@localhost/pawl?host=${encodeURIComponent(layoutOf(server.path).socketDir)}`
  try {
    const restored = await pawl(other.path, ['restore', file, '--database-url', url, '--json'])
    expect(json(restored)).toMatchObject({ home: other.path, audit: { isWhole: true }, sealedSecrets: 0 })
    const third = await makeHome()
    expect((await pawl(third.path, ['restore', file, '--database-url', url])).stderr).toContain('This database is in use')
    await third.remove()

    const there = await serve(other.path, { env: { ...env, PAWL_DATABASE_URL: url } })
    try {
      expect(await api<TaskView>(there, 'GET', `/tasks/${tasks.helper!.id}`)).toMatchObject({ state: 'completed' })
      const [question] = (await api<TaskView>(there, 'GET', `/tasks/${tasks.asker!.id}`)).questions
      await api(there, 'POST', `/questions/${question!.id}/answer`, { answer: 'blue' })
      expect((await isIn(there, tasks.asker!.id, 'completed')).result?.text).toBe('blue')
    } finally {
      there.process.kill('SIGTERM')
      await there.ended
    }
  } finally {
    await database.release()
    await other.remove()
    await server.remove()
  }
})

it('a daemon takes, lists and hands out backups, in parts too, without the key; one that was changed or cut is refused', {
  timeout: 120_000,
}, async () => {
  const made = await api<BackupView>(daemon, 'POST', '/backups', {})
  expect(made).toMatchObject({ withKeys: false, withWorkspaces: false })
  expect(await api<{ items: BackupView[] }>(daemon, 'GET', '/backups')).toMatchObject({
    items: [{ id: made.id, bytes: made.bytes }],
  })
  const headers = { authorization: `Bearer ${daemon.token}` }
  const get = (range?: string) =>
    fetch(`${daemon.url}/api/v1/backups/${made.name}`, { headers: range === undefined ? headers : { ...headers, range } })
  const whole = Buffer.from(await (await get()).arrayBuffer())
  expect(whole.length).toBe(made.bytes)
  const part = await get('bytes=100-199')
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${made.bytes}`])
  expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(100, 200))
  expect((await get(`bytes=${made.bytes}-`)).status).toBe(416)
  expect((await fetch(`${daemon.url}/api/v1/backups/..%2Ftoken`, { headers })).status).toBe(404)
  // One with keys was taken at the machine and stays there, though it lies beside the others.
  const keyed = json<BackupView>(await pawl(home.path, ['backup', '--with-keys', '--json']))
  const refused = await fetch(`${daemon.url}/api/v1/backups/${keyed.name}`, { headers })
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('holds the key')])
  const audited = await api<{ items: unknown[] }>(daemon, 'GET', '/audit?action=backup.download')
  expect(audited.items.length).toBeGreaterThan(0)
  expect(whole.includes((await readFile(join(home.path, 'secret.key'), 'utf8')).trim())).toBe(false)

  const verify = async (name: string, content: Buffer) => {
    await writeFile(join(folder, name), content)
    return pawl(folder, ['backup', 'verify', name])
  }
  const changed = Buffer.from(whole)
  changed[whole.length >> 1]! ^= 1
  for (const [name, content] of [
    ['cut.pawl', whole.subarray(0, -40)],
    ['changed.pawl', changed],
    ['longer.pawl', Buffer.concat([whole, Buffer.from('x')])],
    ['no.pawl', Buffer.from('something else entirely')],
  ] as const) {
    const found = await verify(name, content)
    expect([name, found.code, found.stderr]).toEqual([name, 1, expect.stringMatching(/is damaged|is no backup of Pawl/)])
  }
  expect((await verify('good.pawl', whole)).code).toBe(0)
})

it('a backup or a restore that is killed at any step leaves the old state or the whole new one', {
  timeout: 240_000,
}, async () => {
  const place = await mkdtemp(join(folder, 'killed-'))
  const file = join(place, 'it.pawl')
  const names = () => readdir(place)
  const killed = async (at: string, args: string[], path: string) => {
    const ended = await pawl(path, args, { env: { PAWL_FAILPOINT: `${at}=kill` } })
    expect([at, ended.code, ended.stderr]).toEqual([at, null, expect.any(String)])
  }
  const points = commandFailpoints.filter((point) => point.startsWith('backup.'))
  for (const point of points) {
    await killed(point, ['backup', file], home.path)
    expect([point, (await names()).includes('it.pawl')]).toEqual([point, point === 'backup.renamed'])
  }
  expect((await pawl(home.path, ['backup', 'verify', file])).code).toBe(0)
  expect((await pawl(home.path, ['backup', join(place, 'next.pawl')])).code).toBe(0)
  expect((await names()).sort()).toEqual(['it.pawl', 'next.pawl'])

  const other = await makeHome(undefined, { bare: true })
  try {
    for (const point of commandFailpoints.filter((name) => name.startsWith('restore.'))) {
      await killed(point, ['restore', file], other.path)
      const looked = await pawl(other.path, ['ls', '--json'])
      if (point !== 'restore.commit.after') expect(looked.stderr).toContain('A restore into this home was cut short; repeat it')
      else expect(json<{ items: unknown[] }>(looked).items).toHaveLength(Object.keys(tasks).length)
    }
    expect((await pawl(other.path, ['audit', 'verify'])).stdout).toContain('whole')
  } finally {
    await pawl(other.path, ['stop'])
    await other.remove()
  }
})
