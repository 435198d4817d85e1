import { mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { start } from '../process/spawn.ts'
import { recordChild } from './raw-log.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pawl-raw-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const shell = async (script: string) => {
  const started = await start({ file: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: directory })
  const stop = async () => {
    started.process.kill('SIGKILL')
    return started.exited
  }
  return { ...started, stop }
}

it('what a program prints is kept as it is, stdout and stderr apart, for its owner only', async () => {
  const child = await shell("printf 'a\\377\\000b'; printf error >&2")
  const recorded = recordChild(child, { directory, onLimit: () => undefined })
  recorded.child.stderr.resume()
  const chunks: Buffer[] = []
  for await (const chunk of recorded.child.stdout) chunks.push(chunk as Buffer)
  await recorded.close()
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0x62])
  expect(Buffer.concat(chunks)).toEqual(bytes)
  expect(await readFile(join(directory, 'stdout.log'))).toEqual(bytes)
  expect(await readFile(join(directory, 'stderr.log'), 'utf8')).toBe('error')
  expect((await stat(join(directory, 'stdout.log'))).mode & 0o777).toBe(0o600)
})

it('a flood is cut at the cap with a mark, told once, and does not fill our memory', async () => {
  const child = await shell('yes flood')
  let told = 0
  const limited = Promise.withResolvers<void>()
  const onLimit = () => {
    told++
    limited.resolve()
  }
  const before = process.memoryUsage().rss
  const recorded = recordChild(child, { directory, maxBytes: 20_000_000, onLimit })
  recorded.child.stderr.resume()
  recorded.child.stdout.resume()
  await limited.promise
  await child.stop()
  await recorded.close()
  // Before the test itself reads the file.
  const grown = process.memoryUsage().rss - before
  const kept = await readFile(join(directory, 'stdout.log'), 'utf8')
  expect(kept.length).toBeLessThan(20_000_200)
  expect(kept.trimEnd().endsWith('[pawl: output cut at 20000000 bytes]')).toBe(true)
  expect(told).toBe(1)
  expect(grown).toBeLessThan(64 * 1024 * 1024)
})

it.each([
  ['is on a full disk', 'kept', () => symlink('/dev/full', join(directory, 'kept', 'stdout.log'))],
  ['has no folder', 'missing', async () => undefined],
])('a log that %s is reported once, and what the program prints still arrives', async (_, folder, prepare) => {
  await mkdir(join(directory, 'kept'))
  await prepare()
  const child = await shell('echo one; echo error >&2; sleep 0.1; echo two')
  const lost: Error[] = []
  const recorded = recordChild(child, {
    directory: join(directory, folder),
    onLimit: () => undefined,
    onLost: (error) => lost.push(error),
  })
  recorded.child.stderr.resume()
  const chunks: Buffer[] = []
  for await (const chunk of recorded.child.stdout) chunks.push(chunk as Buffer)
  await recorded.close()
  expect(Buffer.concat(chunks).toString()).toBe('one\ntwo\n')
  expect(lost).toHaveLength(1)
})
