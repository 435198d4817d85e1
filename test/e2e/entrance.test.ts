import type { ChildProcess } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { commandAgent, makeHome, until } from '../engine/home.ts'
import { selfSigned } from '../self-signed.ts'
import { json, pawl, serve, startPawl } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome()
})
afterAll(() => home.remove())

interface Answer extends Record<string, unknown> {
  id: string
  token: string
  url: string
  state: string
  items: { action: string; actor: string }[]
}
const running = (one: { process: ChildProcess; ended: Promise<unknown> }) =>
  onTestFinished(async () => {
    one.process.kill('SIGTERM')
    await one.ended
  })
const run = async (...args: string[]) => {
  const ended = await pawl(home.path, [...args, '--json'])
  expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringContaining('Pawl made a mistake')])
  return json<Answer>(ended)
}

test('pawl open leads a browser in by a file that only its owner can read, so that the code is in no argument list', async () => {
  const daemon = await serve(home.path)
  running(daemon)
  const folder = join(home.path, 'fake-desktop')
  await mkdir(folder)
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\necho "$@" > ${folder}/given\n`, { mode: 0o755 })
  const open = (env: Record<string, string>) => pawl(home.path, ['open', '--json'], { env })
  const opened = await open({ DISPLAY: ':0', PATH: `${folder}:${process.env.PATH}` })
  const { url, opened: isOpened } = json<{ url: string; opened: boolean }>(opened)
  expect(isOpened).toBe(true)
  const file = (await readFile(join(folder, 'given'), 'utf8')).trim().replace(/^file:\/\//, '')
  expect(file).not.toContain('pawl_')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain(`content="0;url=${url}"`)
  const page = await fetch(url, { redirect: 'manual' })
  expect([page.status, page.headers.get('location')]).toEqual([303, '/'])
  const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!
  const asked = await fetch(`${daemon.url}/api/v1/me`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  expect(await asked.json()).toMatchObject({ user: 'local', standing: 'admin' })

  const unseen = await open({ DISPLAY: '', WAYLAND_DISPLAY: '' })
  expect(json<{ url: string; opened: boolean }>(unseen)).toMatchObject({
    opened: false,
    url: expect.stringContaining('/open?code='),
  })
})

test('users and tokens are made, used and ended from the command line, and the audit tells of all of it', async () => {
  const daemon = await serve(home.path)
  running(daemon)
  const ask = (token: string, path: string, options: RequestInit = {}) =>
    fetch(`${daemon.url}${path}`, {
      ...options,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
  expect(await run('user', 'add', 'anna', '--role', 'operator', '--slots', '2', '--daily-tasks', '1')).toMatchObject({
    name: 'anna',
    slots: 2,
    dailyTasks: 1,
  })
  const made = await run('token', 'create', '--user', 'anna', '--name', 'laptop')
  const task = { method: 'POST', body: '{"prompt":"x","agent":"demo"}' }
  const created = await ask(made.token, '/api/v1/tasks', task)
  expect(created.status).toBe(201)
  const over = await ask(made.token, '/api/v1/tasks', task)
  expect([over.status, Number(over.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
  expect(await over.json()).toMatchObject({ code: 'limited', detail: expect.stringContaining('midnight UTC') })
  expect((await ask(made.token, '/api/v1/users')).status).toBe(403)
  expect(await (await ask(made.token, '/api/v1/me')).json()).toEqual({ user: 'anna', standing: 'operator', token: made.id })
  // Beside what a browser was let in by.
  expect((await run('token', 'ls')).items).toContainEqual(expect.objectContaining({ id: made.id, name: 'laptop', user: 'anna' }))
  expect((await run('user', 'ls')).items).toMatchObject([{ name: 'anna', tasksToday: 1 }, { name: 'local' }])
  await run('user', 'set', 'anna', '--role', 'viewer', '--daily-tasks', 'none')
  expect((await ask(made.token, '/api/v1/tasks', task)).status).toBe(403)
  await run('token', 'revoke', String(made.id).slice(-6))
  expect((await ask(made.token, '/api/v1/tasks')).status).toBe(401)
  await run('user', 'rm', 'anna')
  const signIn = await run('sign-in')
  expect(signIn.url).toMatch(new RegExp(`^${daemon.url}/sign-in\\?code=pawl_[\\w-]{43}$`))

  const { items } = await run('audit', 'ls', '--all')
  const told = items.map(({ action, actor }) => `${actor} ${action}`).reverse()
  for (const each of [
    'local user.create',
    'local token.create',
    'anna task.create',
    'anna denied',
    'local user.change',
    'local token.revoke',
    'local user.remove',
    'local sign_in.code',
    'stranger denied',
  ])
    expect(told).toContain(each)
  expect(await run('audit', 'verify')).toMatchObject({ isWhole: true, entries: items.length })

  daemon.process.kill('SIGTERM')
  await daemon.ended
  const log = join(home.path, 'access.log')
  expect((await stat(log)).mode & 0o777).toBe(0o600)
  const lines = (await readFile(log, 'utf8')).trim().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(entries.find(({ status }) => status === 201)).toMatchObject({ peer: '127.0.0.1' })
  expect(entries.find(({ actor, status }) => actor === 'anna' && status === 429)).toMatchObject({
    method: 'POST',
    path: '/api/v1/tasks',
    token: made.id,
  })
  expect(entries.find(({ status }) => status === 401)).toMatchObject({ actor: null, token: null })
  for (const secret of [made.token, daemon.token, String(signIn.url).split('=')[1]!])
    expect(lines.join('\n') + daemon.stderr()).not.toContain(secret)
}, 120_000)

test('an audit that lacks a hash which was noted elsewhere ends with 1; a whole one says its last hash', async () => {
  expect((await pawl(home.path, ['audit', 'verify', '--contains', '0'.repeat(64)])).code).toBe(1)
  const whole = await pawl(home.path, ['audit', 'verify'])
  expect([whole.code, whole.stdout]).toEqual([0, expect.stringMatching(/^whole: \d+ entries, the last hash is [0-9a-f]{64}\n$/)])
})

test('mistakes are told with what to do', async () => {
  const say = async (...args: string[]) => {
    const { code, stderr } = await pawl(home.path, args)
    return [code, stderr.trim()]
  }
  expect(await say('user', 'add', 'Anna')).toEqual([2, expect.stringContaining('lower-case')])
  expect(await say('user', 'set', 'local', '--disable')).toEqual([1, expect.stringContaining('the owner of this home')])
  expect(await say('user', 'set', 'local')).toEqual([2, expect.stringContaining('Say what to change')])
  expect(await say('token', 'create', '--user', 'nobody')).toEqual([1, expect.stringContaining('There is no user "nobody"')])
  expect(await say('token', 'revoke', 'pawl_xxxx')).toEqual([2, expect.stringContaining('by its id')])
  expect(await say('sign-in')).toEqual([1, expect.stringContaining('pawl serve')])
  expect(await say('stop', '--reason', 'x')).toEqual([2, expect.stringContaining('--all-agents')])
  expect(await say('serve', '--tls-cert', 'x')).toEqual([2, expect.stringContaining('--tls-key')])
}, 60_000)

test('stop --all-agents ends what runs, a restart changes nothing, resume does', async () => {
  const daemon = await serve(home.path)
  running(daemon)
  const agentConfig = commandAgent(['sleep', '1000'])
  const made = await fetch(`${daemon.url}/api/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'x', agentConfig }),
  })
  const held = (await made.json()) as { id: string }
  const state = async (id: string) => (await run('show', id)).state
  await until(async () => (await state(held.id)) === 'running')
  expect(await run('stop', '--all-agents', '--reason', 'enough')).toMatchObject({
    halt: { reason: 'enough' },
    // A task of the tests before may still be at work.
    stopping: expect.arrayContaining([held.id]),
    left: [],
  })
  expect(await state(held.id)).toBe('cancelled')
  daemon.process.kill('SIGTERM')
  await daemon.ended
  const again = await serve(home.path)
  running(again)
  const later = await run('task', 'add', '--scratch', '--agent', 'demo', 'x')
  expect(await run('show', later.id)).toMatchObject({ state: 'queued', reason: { kind: 'halted' } })
  expect(await run('resume')).toEqual({ resumed: true })
  await until(async () => (await state(later.id)) !== 'queued')
}, 120_000)

test('with a certificate the daemon speaks TLS and nothing else, and the command line trusts exactly that certificate', async () => {
  const { cert, key } = selfSigned('pawl.example')
  await writeFile(join(home.path, 'cert.pem'), cert)
  await writeFile(join(home.path, 'key.pem'), key)
  const daemon = startPawl(home.path, ['serve', '--port', '0', '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'])
  running(daemon)
  const url = await until(async () => {
    if (daemon.process.exitCode !== null) throw new Error(daemon.stderr())
    const text = await readFile(join(home.path, 'run.json'), 'utf8').catch(() => '{}')
    return (JSON.parse(text) as { url?: string }).url
  })
  expect(url).toMatch(/^https:/)
  expect((await run('ls')).items).toBeDefined()
  expect((await run('sign-in')).url).toMatch(/^https:/)
  await expect(fetch(url.replace('https', 'http'))).rejects.toThrow()
  await expect(fetch(url)).rejects.toThrow()
  const file = join(home.path, 'run.json')
  const right = await readFile(file, 'utf8')
  await writeFile(file, JSON.stringify({ ...JSON.parse(right), certificate: selfSigned('pawl.example').cert }))
  const fooled = await pawl(home.path, ['ls'])
  expect([fooled.code, fooled.stderr]).toEqual([1, expect.stringContaining('No Pawl daemon answers')])
  await writeFile(file, right)
}, 60_000)
