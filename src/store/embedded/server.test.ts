import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { connectionTo } from './holder.ts'
import { layoutOf } from './layout.ts'
import { embeddedStatus, openEmbedded, stopEmbedded } from './server.ts'
import { connect, freshHome, isAlive, openInChild, usedHome } from './testing.ts'

const open = (home: string) => openEmbedded({ home, log: silentLog })

test('a new home gets a durable server that only its socket reaches', async () => {
  const home = join(freshHome(), 'with, comma and "quotes"')
  const server = await open(home)
  expect(server.how).toBe('started')
  const client = await connect(server.connection)
  const names = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'data_checksums',
    'listen_addresses',
    'TimeZone',
    'server_encoding',
  ]
  const { rows } = await client.query('select name, setting from pg_settings where name = any($1)', [names])
  expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    listen_addresses: '',
    TimeZone: 'UTC',
    server_encoding: 'UTF8',
  })
  const broken = await client.query('select name, error from pg_file_settings where error is not null')
  expect(broken.rows).toEqual([])
  await client.end()

  const status = await embeddedStatus(home)
  expect(status).toMatchObject({ running: true, pid: server.pid, version: '18' })
  expect(status.sizeBytes).toBeGreaterThan(10_000_000)
  await server.release()
})

test.runIf(process.platform === 'linux')('the server leads its own session and knows nothing of our environment', async () => {
  const server = await open(await usedHome())
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  expect(fields[3]).toBe(String(server.pid))
  const variables = readFileSync(`/proc/${server.pid}/environ`, 'utf8')
    .split('\0')
    .map((entry) => entry.split('=')[0])
  expect(variables.filter((name) => name !== '').sort()).toEqual(['LC_ALL', 'PATH', 'TZ'])
  await server.release()
})

test('the second to come joins; the first to leave leaves it running, the last one stops it', async () => {
  const home = await usedHome()
  const first = await open(home)
  const second = await open(home)
  expect({ how: second.how, pid: second.pid }).toEqual({ how: 'adopted', pid: first.pid })
  await first.release()
  await first.release()
  expect(isAlive(first.pid)).toBe(true)
  const client = await connect(second.connection)
  await client.end()
  await second.release()
  expect(isAlive(first.pid)).toBe(false)
  expect(await embeddedStatus(home)).toMatchObject({ running: false })
})

test('a client of somebody else keeps the server running', async () => {
  const server = await open(await usedHome())
  const client = await connect(server.connection)
  await server.release()
  expect(isAlive(server.pid)).toBe(true)
  await client.end()
})

test('the server outlives the process that started it and is joined by the next', async () => {
  const home = await usedHome()
  const child = await openInChild(home)
  child.process.kill('SIGKILL')
  await once(child.process, 'exit')
  const server = await open(home)
  expect({ how: server.how, pid: server.pid }).toEqual({ how: 'adopted', pid: child.pid })
  await server.release()
  expect(isAlive(child.pid)).toBe(false)
})

test('after the server was killed at work, opening again brings back every committed row', async () => {
  const home = await usedHome()
  const server = await open(home)
  const client = await connect(server.connection)
  await client.query('create table kept (id int)')
  for (let id = 1; id <= 50; id++) await client.query('insert into kept values ($1)', [id])
  // A backend that computes does not notice at once that its server is gone, and holds the shared memory meanwhile.
  const busy = await connect(server.connection)
  const computing = busy.query('select count(*) from generate_series(1, 4000000)').catch(() => 'cut')
  process.kill(server.pid, 'SIGKILL')
  await server.lost

  const again = await open(home)
  expect(again.how).toBe('started')
  const reader = await connect(again.connection)
  expect((await reader.query('select count(*)::int as n from kept')).rows).toEqual([{ n: 50 }])
  await reader.end()
  await computing
  await server.release()
  expect(isAlive(again.pid)).toBe(true)
  await again.release()
  expect(isAlive(again.pid)).toBe(false)
})

test('processes that open a new home at once share one server, and the last of them stops it', async () => {
  const home = freshHome()
  const children = await Promise.all([openInChild(home), openInChild(home), openInChild(home)])
  expect(new Set(children.map(({ pid }) => pid)).size).toBe(1)
  expect(children.map(({ how }) => how).sort()).toEqual(['adopted', 'adopted', 'started'])
  await Promise.all(children.map((child) => child.leave()))
  expect(isAlive(children[0]!.pid)).toBe(false)
})

test('coming and going at the same time never meets a server that is being stopped', async () => {
  const home = await usedHome()
  const visit = async () => {
    for (let turn = 0; turn < 6; turn++) {
      const server = await open(home)
      const client = await connect(server.connection)
      expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
      await client.end()
      await server.release()
    }
  }
  await Promise.all([visit(), visit(), visit()])
  expect(await embeddedStatus(home)).toMatchObject({ running: false })
})

test('a home whose path is too long for a socket gets a short private directory, gone again after the stop', async () => {
  const home = join(freshHome(), 'long-'.repeat(20))
  const server = await open(home)
  expect(server.connection.host).toMatch(/^\/tmp\/pawl-[0-9a-f]{24}$/)
  const client = await connect(server.connection)
  await client.end()
  await server.release()
  expect(existsSync(server.connection.host)).toBe(false)
})

test('a socket directory that others may enter is refused', async () => {
  const home = join(freshHome(), 'long-'.repeat(20))
  mkdirSync(home, { recursive: true })
  const dir = connectionTo(layoutOf(home)).host
  mkdirSync(dir)
  chmodSync(dir, 0o755)
  try {
    await expect(open(home)).rejects.toMatchObject({ code: 'denied', message: expect.stringContaining(`"${dir}"`) })
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('a data directory of another major version is refused, naming export and import', async () => {
  const home = freshHome()
  const { dataDir } = await embeddedStatus(home)
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'PG_VERSION'), '17\n')
  await expect(open(home)).rejects.toThrow(/written by PostgreSQL 17.*"pawl export".*"pawl import"/s)
})

test('what an interrupted first start left is removed', async () => {
  const home = freshHome()
  const left = join(home, 'postgres', 'init-left-behind', 'base')
  mkdirSync(left, { recursive: true })
  const server = await open(home)
  expect(readdirSync(join(home, 'postgres')).filter((name) => name.startsWith('init-'))).toEqual([])
  await server.release()
})

test('a pid file that names some other living program does not stop the start', async () => {
  const home = await usedHome()
  const { dataDir } = await embeddedStatus(home)
  const other = spawn('sleep', ['60'])
  onTestFinished(() => void other.kill())
  writeFileSync(join(dataDir, 'postmaster.pid'), `${other.pid}\n${dataDir}\n1\n5432\n\n\n\n`)
  const server = await open(home)
  expect(server.how).toBe('started')
  await server.release()
})

test('a damaged data directory is reported with the log and its last lines', async () => {
  const home = await usedHome()
  const { dataDir } = await embeddedStatus(home)
  rmSync(join(dataDir, 'global', 'pg_control'))
  const refusal = await open(home).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'unavailable' })
  expect(String(refusal)).toContain(join(home, 'postgres', 'server.log'))
  expect(String(refusal)).toContain('global/pg_control')
})

test('a folder that is not a data directory is left alone', async () => {
  const home = freshHome()
  const { dataDir } = await embeddedStatus(home)
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'precious'), 'x')
  await expect(open(home)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(dataDir) })
  expect(readdirSync(dataDir)).toEqual(['precious'])
})

test('stopping works with clients connected, and says so when nothing runs', async () => {
  const home = freshHome()
  expect(await stopEmbedded(home)).toBe('not_running')
  expect(readdirSync(home)).toEqual([])
  const server = await open(home)
  expect(await stopEmbedded(home)).toBe('stopped')
  expect(isAlive(server.pid)).toBe(false)
  await server.lost
  await server.release()
  expect(await stopEmbedded(home)).toBe('not_running')
})
