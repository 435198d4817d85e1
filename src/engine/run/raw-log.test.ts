import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createRedactor } from '../../redact/redactor.ts'
import { start } from '../../sandbox/process/spawn.ts'
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
  const recorded = recordChild(child)
  await recorded.into({ directory, onLimit: () => undefined })
  recorded.child.stderr.resume()
  const chunks: Buffer[] = []
  for await (const chunk of recorded.child.stdout) chunks.push(chunk as Buffer)
  await recorded.into(undefined)
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0x62])
  expect(Buffer.concat(chunks)).toEqual(bytes)
  expect(await readFile(join(directory, 'stdout.log'))).toEqual(bytes)
  expect(await readFile(join(directory, 'stderr.log'), 'utf8')).toBe('error')
  expect((await stat(join(directory, 'stdout.log'))).mode & 0o777).toBe(0o600)
})

it('a program that says nothing has an empty stdout and no file of stderr', async () => {
  const child = await shell('true')
  const recorded = recordChild(child)
  await recorded.into({ directory, onLimit: () => undefined })
  recorded.child.stderr.resume()
  recorded.child.stdout.resume()
  await child.exited
  await recorded.into(undefined)
  expect(await readdir(directory)).toEqual(['stdout.log'])
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
  const recorded = recordChild(child)
  await recorded.into({ directory, maxBytes: 20_000_000, onLimit })
  recorded.child.stderr.resume()
  recorded.child.stdout.resume()
  await limited.promise
  await child.stop()
  await recorded.into(undefined)
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
  const recorded = recordChild(child)
  await recorded.into({
    directory: join(directory, folder),
    onLimit: () => undefined,
    onLost: (error) => lost.push(error),
  })
  recorded.child.stderr.resume()
  const chunks: Buffer[] = []
  for await (const chunk of recorded.child.stdout) chunks.push(chunk as Buffer)
  await recorded.into(undefined)
  expect(Buffer.concat(chunks).toString()).toBe('one\ntwo\n')
  expect(lost).toHaveLength(1)
})

it('a secret is not in the files, however it arrives, and whoever reads the program hears it as it was', async () => {
  const redactor = createRedactor()
  redactor.add('TOKEN', 'correct-horse-1')
  const child = await shell(
    "printf 'a correct-'; sleep 0.1; printf 'horse-1 b'; echo correct-horse-1 >&2; sleep 0.1; printf ' correct-ho'",
  )
  const recorded = recordChild(child)
  await recorded.into({ directory, redactor, onLimit: () => undefined })
  recorded.child.stderr.resume()
  const chunks: Buffer[] = []
  for await (const chunk of recorded.child.stdout) chunks.push(chunk as Buffer)
  await recorded.into(undefined)
  expect(Buffer.concat(chunks).toString()).toBe('a correct-horse-1 b correct-ho')
  expect(await readFile(join(directory, 'stdout.log'), 'utf8')).toBe('a [redacted:TOKEN] b [redacted:cut off]')
  expect(await readFile(join(directory, 'stderr.log'), 'utf8')).toBe('[redacted:TOKEN]\n')
})

it('a program that serves two runs is recorded with the one it prints for, and what it prints before the first waits', async () => {
  const child = await shell('echo first; read go; echo second; read go; echo third >&2; echo third')
  const recorded = recordChild(child)
  recorded.child.stderr.resume()
  const seen: string[] = []
  const next = async () => {
    for (;;) {
      const chunk: Buffer | null = recorded.child.stdout.read()
      if (chunk !== null) return seen.push(chunk.toString())
      await once(recorded.child.stdout, 'readable')
    }
  }
  await new Promise((done) => setTimeout(done, 50))
  expect(recorded.child.stdout.readableLength).toBe(0)
  const into = async (run: string) => {
    await mkdir(join(directory, run))
    await recorded.into({ directory: join(directory, run), onLimit: () => undefined })
  }
  const goOn = () => child.stdin.write('go\n')
  await into('one')
  await next()
  await recorded.into(undefined)
  goOn()
  await next()
  await into('two')
  goOn()
  await next()
  await recorded.into(undefined)
  expect(seen).toEqual(['first\n', 'second\n', 'third\n'])
  expect(await readFile(join(directory, 'one', 'stdout.log'), 'utf8')).toBe('first\n')
  expect(await readFile(join(directory, 'two', 'stdout.log'), 'utf8')).toBe('third\n')
})
