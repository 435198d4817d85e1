import { randomBytes } from 'node:crypto'
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ArtifactView, UploadView } from '../../src/domain/files/view.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { exchange } from '../http-peer.ts'
import { traversals } from '../protocols/traversal.ts'
import { json, pawl, type Running, serve } from './pawl.ts'

let made: Awaited<ReturnType<typeof makeHome>>
let home: string
let work: string
let daemon: Running & { url: string; token: string }
const large = randomBytes(1_500_000)
beforeAll(async () => {
  made = await makeHome('pawl-files-')
  home = made.path
  work = await mkdtemp(join(tmpdir(), 'pawl-files-ws-'))
  await chmod(work, 0o777)
  const copy = `cat; mkdir -p "$PAWL_ARTIFACTS/deep"; cp "$PAWL_ATTACHMENTS"/* "$PAWL_ARTIFACTS"/ 2>/dev/null; echo '<script>alert(1)</script>' >"$PAWL_ARTIFACTS/deep/pâge.html"`
  const settings = { agents: { copier: { adapter: 'custom', command: ['sh', '-c', copy] } } }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  await writeFile(join(work, 'large.bin'), large)
  await copyFile(resolve(import.meta.dirname, '../../LICENSE'), join(work, 'license.txt'))
  daemon = await serve(home)
})
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await made.remove()
  await rm(work, { recursive: true, force: true })
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${daemon.url}/api/v1${path}`, { ...init, headers: { Authorization: `Bearer ${daemon.token}`, ...init.headers } })
const raw = { 'Content-Type': 'application/octet-stream' }
const hand = (name: string, body: Uint8Array<ArrayBuffer>) =>
  ask(`/uploads?${new URLSearchParams({ name })}`, { method: 'POST', headers: raw, body })

test('the command line attaches files and standard input, and gets what the task left', async () => {
  const run = await pawl(
    home,
    ['run', '--agent', 'copier', '--attach', 'large.bin', '--attach', 'told.txt=-', '--output-format', 'json', 'take these'],
    { cwd: work, stdin: 'from stdin\n' },
  )
  expect(run.code, run.stderr).toBe(0)
  const listed = json<{ items: ArtifactView[] }>(await pawl(home, ['task', 'artifacts', 'last', '--json']))
  expect(listed.items.map(({ name }) => name)).toEqual(['deep/pâge.html', 'large.bin', 'told.txt'])
  expect((await pawl(home, ['task', 'artifacts', 'last'])).stdout).toMatch(/SIZE .*NAME\n.*\n1\.4 MiB .*large\.bin/)
  const got = await pawl(home, ['task', 'artifacts', 'last', '--get', 'large.bin', '--output', 'got.bin'], { cwd: work })
  expect([got.code, got.stderr]).toEqual([0, `1.4 MiB are in ${join(work, 'got.bin')}.\n`])
  expect((await readFile(join(work, 'got.bin'))).equals(large)).toBe(true)
  expect((await pawl(home, ['task', 'artifacts', 'last', '--get', 'told.txt'])).stdout).toBe('from stdin\n')
  const twice = await pawl(home, ['task', 'artifacts', 'last', '--get', 'large.bin', '--output', 'got.bin'], { cwd: work })
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('EEXIST')])
  await writeFile(join(work, 'tasks.yaml'), '- {name: one, agent: copier, prompt: hello, attachments: [license.txt]}\n')
  const added = await pawl(home, ['task', 'add', '-f', 'tasks.yaml', '--idempotent', '--json'], { cwd: work })
  const again = await pawl(home, ['task', 'add', '-f', 'tasks.yaml', '--idempotent', '--json'], { cwd: work })
  const [task] = json<{ items: TaskView[] }>(added).items
  expect(json<{ items: TaskView[] }>(again).items[0]?.id).toBe(task?.id)
  expect(task?.settings.attachments).toMatchObject([{ name: 'license.txt', type: 'text/plain' }])
  for (const [args, why] of [
    [['run', '--attach', 'nothing-there', 'x'], 'cannot be attached'],
    [['run', '--attach', '.', 'x'], 'it is no file'],
    [['run', '--attach', '-', '-'], 'Standard input is attached'],
    [['schedules', 'add', '--every', '1h', '--attach', 'license.txt', 'x'], 'A schedule has no files'],
  ] as const) {
    const refused = await pawl(home, [...args], { cwd: work })
    expect([refused.code, refused.stderr], args.join(' ')).toEqual([2, expect.stringContaining(why)])
  }
}, 60_000)

test('what a task left is given out whole or in parts, as a file and never as a page', async () => {
  const [{ id }] = ((await (await ask('/tasks?limit=2')).json()) as { items: TaskView[] }).items.slice(-1) as [TaskView]
  const { items } = (await (await ask(`/tasks/${id}/artifacts`)).json()) as { items: ArtifactView[] }
  const bin = items.find(({ name }) => name === 'large.bin')!
  const page = items.find(({ name }) => name.endsWith('.html'))!
  const get = (headers: Record<string, string> = {}, file = bin) => ask(`/tasks/${id}/artifacts/${file.id}`, { headers })
  const whole = await get()
  expect(Buffer.from(await whole.arrayBuffer()).equals(large)).toBe(true)
  const etag = whole.headers.get('etag')!
  const part = async (range: string, more: Record<string, string> = {}) => {
    const answer = await get({ Range: range, ...more })
    return [
      answer.status,
      answer.headers.get('content-range'),
      Buffer.from(await answer.arrayBuffer()).equals(large.subarray(...slices[range]!)),
    ]
  }
  const n = large.length
  const slices: Record<string, [number, number]> = {
    'bytes=0-0': [0, 1],
    'bytes=1000000-': [1_000_000, n],
    'bytes=-5': [n - 5, n],
    'bytes=10-99999999': [10, n],
    'bytes=5-4': [0, n],
    'bytes=0-1,3-4': [0, n],
    'lines=1-2': [0, n],
  }
  expect(await part('bytes=0-0')).toEqual([206, `bytes 0-0/${n}`, true])
  expect(await part('bytes=1000000-')).toEqual([206, `bytes 1000000-${n - 1}/${n}`, true])
  expect(await part('bytes=-5')).toEqual([206, `bytes ${n - 5}-${n - 1}/${n}`, true])
  expect(await part('bytes=10-99999999')).toEqual([206, `bytes 10-${n - 1}/${n}`, true])
  for (const odd of ['bytes=5-4', 'bytes=0-1,3-4', 'lines=1-2']) expect(await part(odd)).toEqual([200, null, true])
  slices['bytes=-5'] = [0, n]
  expect(await part('bytes=-5', { 'If-Range': '"another"' })).toEqual([200, null, true])
  const beyond = await get({ Range: `bytes=${n}-` })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${n}`])
  expect((await get({ 'If-None-Match': `"x", ${etag}` })).status).toBe(304)
  const shown = await get({}, page)
  expect(await shown.text()).toContain('<script>')
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment; filename="p_ge.html"; filename*=UTF-8''p%C3%A2ge.html`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  })
  expect((await fetch(`${daemon.url}/api/v1/tasks/${id}/artifacts/${bin.id}`)).status).toBe(401)
  expect((await ask(`/tasks/t_000000000000000000/artifacts/${bin.id}`)).status).toBe(404)
})

test('an upload is refused by its size at once, by its name, and by how it is sent', async () => {
  const port = Number(new URL(daemon.url).port)
  const head = (lines: string[]) =>
    [
      `POST /api/v1/uploads?name=x HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${daemon.token}`,
      ...lines,
      '',
      '',
    ].join('\r\n')
  const type = 'Content-Type: application/octet-stream'
  const startedAt = performance.now()
  // Nothing of the body is sent: the length alone is refused.
  for (const length of [11 * 1024 * 1024, 65 * 1024 * 1024]) {
    const answer = await exchange(port, head([type, `Content-Length: ${length}`]))
    expect(answer.status).toBe(413)
  }
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  const chunk = `${(1024 * 1024).toString(16)}\r\n${'x'.repeat(1024 * 1024)}\r\n`
  const chunked = await exchange(port, head([type, 'Transfer-Encoding: chunked']) + chunk.repeat(12))
  expect(chunked.status).toBe(413)
  expect((await ask('/uploads?name=x', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' })).status).toBe(
    415,
  )
  expect((await ask('/uploads', { method: 'POST', headers: raw, body: 'x' })).status).toBe(400)
  for (const name of traversals('/etc/passwd')) {
    const answer = await hand(name, Buffer.from('x'))
    // What is taken is one part of a path, and shows as it is.
    if (answer.status === 201) expect(((await answer.json()) as UploadView).name).toMatch(/^[^/\\\p{Cc}]+$/u)
    else expect(answer.status, name).toBe(400)
  }
  const made = await hand('日本.png', Buffer.from('89504e470d0a1a0a00', 'hex'))
  expect(made.status).toBe(201)
  const upload = (await made.json()) as UploadView
  expect(upload).toMatchObject({ name: '日本.png', type: 'image/png', size: 9 })
  expect(await (await ask(made.headers.get('location')!.replace('/api/v1', ''))).json()).toEqual(upload)
})
