import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { processIdentity } from '../../sandbox/process/identity.ts'
import { claimHome, ensureToken, findDaemon, publishRunFile, releaseHome } from './run-file.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'pawl-run-file-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const self = { ...processIdentity(), url: 'http://127.0.0.1:1', version: '0' }
/** Init lives on every machine as long as we do. */
const other = { ...processIdentity(1), url: '', version: '0' }

it('a home belongs to the living daemon that claimed it, and to the next when that one is gone', async () => {
  await claimHome(home, other)
  await expect(claimHome(home, self)).rejects.toThrow(/already running \(pid 1\)/)
  await writeFile(join(home, 'run.json'), JSON.stringify({ ...other, pid: 999_999_999 }))
  await claimHome(home, self)
  await releaseHome(home, self.pid)
  expect(await findDaemon(home)).toBeUndefined()
})

it('a daemon is found once it says where it listens', async () => {
  await claimHome(home, { ...self, url: '' })
  const token = await ensureToken(home, () => 'a-token-of-some-length')
  expect(await findDaemon(home)).toBeUndefined()
  await publishRunFile(home, self)
  expect(await findDaemon(home)).toMatchObject({ url: self.url, token, pid: process.pid })
})

it('a token is made once, for its owner only, and an empty file counts as none', async () => {
  await writeFile(join(home, 'token'), '', { mode: 0o600 })
  const first = await ensureToken(home, () => 'the-first-token-made')
  expect(await ensureToken(home, () => 'another-token-made')).toBe(first)
  expect((await stat(join(home, 'token'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(home, 'token'), 'utf8')).toBe('the-first-token-made\n')
})
