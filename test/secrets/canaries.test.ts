import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { watchArgumentLists } from './argument-lists.ts'
import { leakyAgent } from './leaky-agent.ts'
import { type Canary, scan } from './scan.ts'

const word = () => randomBytes(6).toString('base64url').replaceAll(/[-_]/g, 'x')
/** Different in each run, and none of them looks like a key: only knowing them helps. */
const words = (...texts: string[]) => texts.map((text) => (text === '' ? word() : text)).join('')

/** In the store; the profile gives them to the program. */
const stored: Record<string, string> = {
  PLAIN: words('plain ', '', ' words'),
  MULTI_LINE: Array.from({ length: 6 }, () => words('', '', '', '')).join('\n'),
  JSON_VALUED: JSON.stringify({ type: 'account', user: { private_key: words('inner ', '', '') } }),
  EIGHT_SIGNS: word(),
  REGEX_SIGNS: words('$^.*', '', '(+)[', '', ']{2}|\\d'),
  QUOTES: words(`"'`, '', '\\"', '', "'\\''`"),
  NON_ASCII: words('nö-', '', '-日本-🙂'),
  LONG: Array.from({ length: 60 }, word).join('/'),
  ADDRESS: `https://user:${words('', '-', '')}@example.test/path`,
  OF_THE_AGENT: words('agent ', '', ''),
  OF_THE_USER: words('user ', '', ''),
}
const scopes: Record<string, string[]> = { OF_THE_AGENT: ['--agent', 'teller'], OF_THE_USER: ['--user', 'local'] }
/** In the environment of the service, given to the program and not. */
const passedOn = { SERVICE_TOKEN: words('service ', '', '') }
const kept = { PROVIDER_API_KEY: words('provider ', '', ''), WEBHOOK_SECRET: words('webhook ', '', '') }
/** In files that the program looks for and must not find. */
const inFiles: Record<string, string> = {
  '.git-credentials': `https://user:${words('git', '', '')}@example.test`,
  '.claude/.credentials.json': words('login', '', ''),
  'tls.key': words('tls', '', '', ''),
}
/** In the settings. */
const databasePassword = words('data base ', '', '')
const told = { ...stored, ...passedOn }
const innerKey = (JSON.parse(stored.JSON_VALUED!) as { user: { private_key: string } }).user.private_key

describe('20 canaries', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let databaseHome: Awaited<ReturnType<typeof makeHome>>
  let database: Awaited<ReturnType<typeof openEmbedded>>
  let receiver: Receiver
  let daemon: Awaited<ReturnType<typeof serve>>
  let canaries: Canary[]
  let env: Record<string, string>
  let databaseUrl: string
  const outputs: string[] = []
  const heard: Record<string, string> = {}

  const start = async () => {
    daemon = await serve(home.path, { env })
  }
  const note = (name: string, text: string) => {
    heard[name] = `${heard[name] ?? ''}\n${text}`
    return text
  }
  const ask = async (method: string, path: string, options: { body?: unknown; token?: string; accept?: string } = {}) => {
    const { body, token = daemon.token, accept = 'application/json' } = options
    const headers = {
      authorization: `Bearer ${token}`,
      accept,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const answer = await fetch(`${daemon.url}${path}`, { method, headers, signal: AbortSignal.timeout(10_000), ...init })
    return note(`answer to ${method} ${path}`, `${JSON.stringify([...answer.headers])}\n${await answer.text()}`)
  }
  const get = async <T>(path: string) => JSON.parse((await ask('GET', path)).split('\n').slice(1).join('\n')) as T
  const command = async (...args: string[]) => {
    const ended = await pawl(home.path, args, { env })
    return note(`pawl ${args.join(' ')}`, ended.stdout + ended.stderr)
  }
  const run = async (mode: string, agent = 'teller') => {
    const names = Object.keys({ ...told, ...kept })
    const files = [...Object.keys(inFiles), 'token', 'secret.key', 'config.yaml'].map((file) => join(home.path, file))
    const prompt = JSON.stringify({ mode, names, files })
    const made = JSON.parse((await ask('POST', '/api/v1/tasks', { body: { prompt, agent } })).split('\n').at(-1)!) as TaskView
    return made
  }
  const rested = (id: string) =>
    until(async () => {
      const task = await get<TaskView>(`/api/v1/tasks/${id}`)
      return /^(completed|failed|blocked|review|parked)$/.test(task.state) ? task : undefined
    }, 60_000)

  beforeAll(async () => {
    home = await makeHome()
    databaseHome = await makeHome()
    database = await openEmbedded({ home: databaseHome.path, log: silentLog })
    for (const [file, text] of Object.entries(inFiles)) {
      await mkdir(dirname(join(home.path, file)), { recursive: true, mode: 0o700 })
      await writeFile(join(home.path, file), text, { mode: 0o600 })
    }
    const agent = (more: object = {}) => ({
      adapter: 'custom',
      command: ['node', '-e', leakyAgent],
      profile: 'telling',
      env: ['SERVICE_TOKEN', `SPEAKS=${'output' in more ? 'jsonl' : 'text'}`],
      retries: 0,
      ...more,
    })
    const socket = encodeURIComponent(layoutOf(databaseHome.path).socketDir)
    databaseUrl = `postgres://pawl:${encodeURIComponent(databasePassword)}@localhost/pawl?host=${socket}`
    receiver = await startReceiver()
    const webhook = { url: receiver.url('/ok'), secret: { env: 'WEBHOOK_SECRET' }, allowPrivate: true }
    const settings = {
      database: { url: databaseUrl },
      notifications: { ops: { webhook }, bell: { command: { run: ['/bin/sh', '-c', 'env; cat'] } } },
      agents: {
        teller: agent(),
        recorder: agent({ output: 'jsonl', map: { text: 'text', result: 'result' }, profile: 'telling-less' }),
      },
      profiles: {
        telling: { extends: 'guarded', secrets: Object.keys(stored) },
        'telling-less': { extends: 'guarded', secrets: Object.keys(stored).filter((name) => name !== 'OF_THE_AGENT') },
      },
    }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
    env = { ...passedOn, ...kept, PAWL_LOG_LEVEL: 'debug' }
    await start()
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'], { env })
    await daemon.ended
    await database.release()
    await receiver.stop()
    await home.remove()
    await databaseHome.remove()
  })

  it('are found nowhere after runs that say, ask, fail and crash, and a daemon that is killed', {
    timeout: 240_000,
  }, async () => {
    const argumentLists = watchArgumentLists()
    for (const [name, value] of Object.entries(stored)) {
      const ended = await pawl(home.path, ['secret', 'set', name, ...(scopes[name] ?? [])], { stdin: `${value}\n`, env })
      expect(ended.code).toBe(0)
      note('pawl secret set', ended.stdout + ended.stderr)
    }
    const secretKey = (await readFile(join(home.path, 'secret.key'), 'utf8')).trim()
    canaries = Object.entries({
      ...{ ...told, ...kept, ...inFiles },
      ...{
        'database password': databasePassword,
        'home token': daemon.token,
        'key of the secrets': secretKey,
        'inside of JSON': innerKey,
      },
    }).map(([name, value]) => ({ name, value }))
    expect(canaries.length).toBeGreaterThanOrEqual(20)

    const tasks: string[] = []
    for (const [mode, agent] of [['say'], ['ask'], ['fail'], ['crash'], ['say', 'recorder']] as const)
      tasks.push((await rested((await run(mode, agent)).id)).id)
    const waiting = await run('wait')
    tasks.push(waiting.id)
    await until(() => existsSync(join(waiting.workspace, 'waited')))
    outputs.push(daemon.stdout() + daemon.stderr())
    daemon.process.kill('SIGKILL')
    await daemon.ended
    // It says where the dead one listened.
    await rm(join(home.path, 'run.json'))
    await start()
    await rested(waiting.id)

    for (const id of tasks) {
      for (const path of ['', '/events?limit=1000']) await ask('GET', `/api/v1/tasks/${id}${path}`)
      await follow(id)
      for (const args of [
        ['show', id],
        ['logs', id],
        ['logs', id, '--raw'],
        ['task', 'show', id, '--json'],
      ])
        await command(...args)
    }
    for (const path of [
      'tasks',
      'sessions',
      'questions',
      'agents',
      'profiles',
      'profiles/telling',
      'secrets',
      'audit',
      'users',
      'tokens',
      'notifications',
    ])
      await ask('GET', `/api/v1/${path}`)
    for (const path of ['/api/v1/health', '/healthz', '/readyz', '/api/v1/openapi.json', '/api/v1/secrets/global/PLAIN'])
      await ask('GET', path)
    // What is refused is not repeated.
    await ask('PUT', '/api/v1/secrets/global/PLAIN', { body: { valeu: stored.PLAIN } })
    await ask('PUT', '/api/v1/secrets/global/PLAIN', { body: `{"value": "${stored.PLAIN}` })
    await ask('GET', '/api/v1/tasks', { token: stored.EIGHT_SIGNS! })
    for (const args of [
      ['secret', 'ls'],
      ['config', 'show'],
      ['profile', 'show', 'telling'],
      ['doctor'],
      ['ls'],
      ['audit', 'ls'],
      ['notifications', 'ls'],
      ['notifications', 'test', 'ops'],
      ['notifications', 'test', 'bell'],
    ])
      await command(...args)
    outputs.push(daemon.stdout() + daemon.stderr())

    const lists = argumentLists()
    expect(lists.length).toBeGreaterThan(1_000)
    const places: Record<string, string | Buffer> = { ...heard, 'argument lists': lists, 'the daemon': outputs.join('\n') }
    for (const [index, { headers, body }] of receiver.received.entries())
      places[`notification ${index}`] = `${JSON.stringify(headers)}\n${body}`
    expect(receiver.received.length).toBeGreaterThanOrEqual(tasks.length)
    for (const [table, text] of Object.entries(await tables())) places[`table ${table}`] = text
    for (const [file, bytes] of Object.entries(filesBelow(home.path))) places[`file ${file}`] = bytes
    const hits = Object.entries(places).flatMap(([place, content]) => scan(place, content, canaries))
    expect(hits).toEqual([])

    // Not because nothing was said.
    const said = Object.entries(heard)
      .filter(([place]) => place.includes('/events'))
      .map(([, text]) => text)
      .join('\n')
    const raw = Object.entries(filesBelow(home.path))
      .filter(([file]) => file.endsWith('stdout.log'))
      .map(([, bytes]) => bytes.toString())
    expect(raw.length).toBeGreaterThanOrEqual(tasks.length)
    for (const name of Object.keys(told)) {
      expect(said).toContain(`[redacted:${name}]`)
      expect(raw.join('\n')).toContain(`[redacted:${name}]`)
    }
    expect(Object.keys(places).filter((place) => place.startsWith('table ')).length).toBeGreaterThan(15)
  })

  it('are in the files of the database as little as in its tables', () => {
    const raw = canaries.map(({ name, value }) => ({ name, bytes: Buffer.from(value) }))
    const files = Object.entries(filesBelow(realpathSync(join(databaseHome.path, 'postgres'))))
    expect(files.length).toBeGreaterThan(500)
    const hits = files.flatMap(([file, bytes]) =>
      raw.filter((canary) => bytes.includes(canary.bytes)).map(({ name }) => `${name} in ${file}`),
    )
    expect(hits).toEqual([])
  })

  it('lie in a home that nobody else may read: folders 0700, and files for their owner alone', () => {
    const open = entriesBelow(home.path).filter(
      ({ isOurs, isFolder, mode }) => isOurs && (isFolder ? mode !== 0o700 : (mode & 0o077) !== 0),
    )
    expect(open.map(({ path, mode }) => `${path} ${mode.toString(8)}`)).toEqual([])
  })

  async function follow(id: string): Promise<void> {
    const headers = { authorization: `Bearer ${daemon.token}`, accept: 'text/event-stream' }
    const answer = await fetch(`${daemon.url}/api/v1/tasks/${id}/events`, { headers, signal: AbortSignal.timeout(10_000) })
    const [reader, decoder] = [answer.body!.getReader(), new TextDecoder()]
    let text = ''
    while (!/"type":"task\.(?:completed|failed|blocked|review|parked)"/.test(text)) {
      const { value, done } = await reader.read()
      text += decoder.decode(value, { stream: true })
      if (done) break
    }
    note(`stream of ${id}`, text)
    await reader.cancel()
  }

  /** Every row of every table as text, as COPY writes it; bytes come in hexadecimal, which the scanner reads. */
  async function tables(): Promise<Record<string, string>> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    try {
      const { rows } = await client.query<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('pawl', 'pgboss')`,
      )
      const texts: Record<string, string> = {}
      for (const { name } of rows)
        texts[name] = (await client.query<{ row: string }>(`select t::text as row from ${name} t`)).rows
          .map(({ row }) => row)
          .join('\n')
      return texts
    } finally {
      await client.end()
    }
  }
})

/** Where they belong: their owner has put them there, or we have, for ourselves alone. */
const allowed = new Set(['config.yaml', 'token', 'secret.key', ...Object.keys(inFiles)])

function filesBelow(folder: string): Record<string, Buffer> {
  const files = entriesBelow(folder).filter(({ isFile, path }) => isFile && !allowed.has(path))
  return Object.fromEntries(files.map(({ path }) => [path, readFileSync(join(folder, path))]))
}

function entriesBelow(folder: string) {
  return (readdirSync(folder, { recursive: true }) as string[]).map((name) => {
    const path = relative(folder, join(folder, name))
    const stats = lstatSync(join(folder, name))
    return {
      path,
      mode: stats.mode & 0o777,
      isFile: stats.isFile(),
      isFolder: stats.isDirectory(),
      // What lies in workspaces and session homes is made by agents, and Node keeps a cache in the home of its user, which is the same here. The bait of a self-test is open on purpose. Links have no mode.
      isOurs: !/^(?:workspaces|sessions)\/[^/]+\/|^\.cache|^self-test/.test(path) && (stats.isFile() || stats.isDirectory()),
    }
  })
}
