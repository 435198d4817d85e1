import { mkdir, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLog, silentLog } from '../../base/log.ts'
import { type AccessEntry, createAccessLog } from './access-log.ts'

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'pawl-access-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}
const entry = (path: string): AccessEntry => ({
  at: 't',
  peer: '127.0.0.1',
  actor: 'anna',
  token: 'k_1',
  method: 'GET',
  path,
  status: 200,
  ms: 1,
})

test('every request is one line, readable by its owner alone, and what is there already stays', async () => {
  const file = join(await folder(), 'access.log')
  for (const round of ['/a', '/b\n"x"']) {
    const log = createAccessLog({ file, log: silentLog })
    log.write(entry(round))
    log.close()
    log.close()
  }
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([entry('/a'), entry('/b\n"x"')])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a file that has grown too large is put aside, and only so many are kept', async () => {
  const place = await folder()
  const file = join(place, 'access.log')
  const size = JSON.stringify(entry('/0')).length + 1
  for (let n = 0; n < 8; n++) {
    const log = createAccessLog({ file, log: silentLog, maxBytes: size, keep: 3 })
    log.write(entry(`/${n}`))
    log.close()
  }
  expect((await readdir(place)).sort()).toEqual(['access.log', 'access.log.1', 'access.log.2', 'access.log.3'])
  const paths = await Promise.all(['', '.1', '.2', '.3'].map(async (end) => JSON.parse(await readFile(file + end, 'utf8')).path))
  expect(paths).toEqual(['/7', '/6', '/5', '/4'])
})

test('a file that cannot be put aside is written on, and nobody else’s file is closed or written', async () => {
  const place = await folder()
  const file = join(place, 'access.log')
  // A folder with something in it is in the way of the name.
  await mkdir(join(`${file}.1`, 'x'), { recursive: true })
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', now: () => 0, write: (line) => lines.push(line) })
  const access = createAccessLog({ file, log, maxBytes: 10, keep: 1 })
  for (const path of ['/1', '/2', '/3']) access.write(entry(path.padEnd(70_000, 'x')))
  const other = await open(join(place, 'other'), 'w')
  access.write(entry('/4'.padEnd(70_000, 'x')))
  await other.writeFile('mine')
  await other.close()
  access.close()
  const written = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(written.map((line) => JSON.parse(line).path.slice(0, 2))).toEqual(['/1', '/2', '/3', '/4'])
  expect(await readFile(join(place, 'other'), 'utf8')).toBe('mine')
  expect(lines.filter((line) => line.includes('the access log cannot be put aside'))).toHaveLength(1)
})

test('a disk that takes nothing more is told of once, and requests go on', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', now: () => 0, write: (line) => lines.push(line) })
  // Linux has a device that is always full.
  const access = createAccessLog({ file: '/dev/full', log })
  for (let n = 0; n < 3; n++) access.write(entry('x'.repeat(70_000)))
  access.close()
  expect(lines.filter((line) => line.includes('the access log cannot be written'))).toHaveLength(1)
})
