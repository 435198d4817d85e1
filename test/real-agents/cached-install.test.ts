import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cachedInstall } from './cached-install.ts'

/** A real package of a few bytes, installed by the real npm from a file, so nothing is downloaded. */
describe('an install kept in a cache', () => {
  let base: string
  let cache: string
  let said: string[]

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-cached-install-'))
    cache = join(base, 'cache')
    said = []
    await lockTo('1.0.0')
  })
  afterEach(() => rm(base, { recursive: true, force: true }))

  const install = (finish?: (folder: string) => Promise<void>) =>
    cachedInstall({ from: join(base, 'from'), cache, what: 'tiny', say: (line) => said.push(line), ...(finish && { finish }) })
  const program = (folder: string) => join(folder, 'node_modules/tiny/tiny.sh')
  const names = async () => (await readdir(cache)).sort()
  const namesOf = (...folders: string[]) => folders.map((folder) => basename(folder)).sort()
  const ageBy = async (path: string, days: number) => {
    const then = new Date(Date.now() - days * 24 * 3_600_000)
    await utimes(path, then, then)
  }

  async function lockTo(version: string): Promise<void> {
    const source = join(base, version, 'package')
    await mkdir(source, { recursive: true })
    await writeFile(
      join(source, 'package.json'),
      JSON.stringify({ name: 'tiny', version, bin: 'tiny.sh', scripts: { postinstall: 'touch was-run' } }),
    )
    await writeFile(join(source, 'tiny.sh'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
    const archive = join(base, `tiny-${version}.tgz`)
    await promisify(execFile)('tar', ['czf', archive, '-C', join(base, version), 'package'])
    const dependencies = { tiny: `file:${archive}` }
    const lock = {
      lockfileVersion: 3,
      packages: { '': { dependencies }, 'node_modules/tiny': { version, resolved: `file:${archive}`, hasInstallScript: true } },
    }
    await mkdir(join(base, 'from'), { recursive: true })
    await writeFile(join(base, 'from/package.json'), JSON.stringify({ private: true, dependencies }))
    await writeFile(join(base, 'from/package-lock.json'), JSON.stringify(lock))
  }

  it('holds what the lock says, runs no script of a package and leaves nothing else in the cache', async () => {
    const folder = await install((staging) => writeFile(join(staging, 'node_modules/finished'), 'yes'))
    expect((await promisify(execFile)(program(folder))).stdout).toBe('1.0.0\n')
    expect(existsSync(join(folder, 'node_modules/tiny/was-run'))).toBe(false)
    expect(await readFile(join(folder, 'node_modules/finished'), 'utf8')).toBe('yes')
    expect(await names()).toEqual(namesOf(folder))
    expect(said).toEqual([expect.stringContaining('Installing tiny')])
  })

  it('is made once: a second call installs nothing and needs nothing but the cache', async () => {
    const first = await install()
    await rm(join(base, 'tiny-1.0.0.tgz'))
    const { ino } = await stat(program(first))
    expect(await install()).toBe(first)
    expect((await stat(program(first))).ino).toBe(ino)
    expect(said).toHaveLength(1)
  })

  it('can be read by everybody, whatever the mask of the process', async () => {
    const { stdout } = await promisify(execFile)('/bin/sh', [
      ...['-c', 'umask 077; exec "$@"', 'sh', process.execPath, '--eval'],
      `import(${JSON.stringify(join(import.meta.dirname, 'cached-install.ts'))}).then(async ({ cachedInstall }) =>
        process.stdout.write(await cachedInstall(${JSON.stringify({ from: join(base, 'from'), cache, what: 'tiny' })})))`,
    ])
    const modes = [stdout, join(stdout, 'node_modules'), join(stdout, 'node_modules/tiny'), program(stdout)].map(
      async (path) => (await stat(path)).mode & 0o777,
    )
    expect(await Promise.all(modes)).toEqual([0o755, 0o755, 0o755, 0o755])
  })

  it('is made anew when a file is cut short or gone, its packages are gone, or it was never completed', async () => {
    const folder = await install()
    const damages = [
      () => truncate(program(folder), 3),
      () => rm(program(folder)),
      () => rm(join(folder, 'node_modules'), { recursive: true }),
      () => rm(join(folder, 'seal.json')),
    ]
    for (const damage of damages) {
      await damage()
      expect(await install()).toBe(folder)
      expect((await promisify(execFile)(program(folder))).stdout).toBe('1.0.0\n')
    }
    expect(said).toHaveLength(1 + damages.length)
    expect(await readdir(cache)).toHaveLength(1)
  })

  it('is the same for all who make it at the same time', async () => {
    let waiting = 0
    let release = () => {}
    const allWait = new Promise<void>((done) => (release = done))
    const together = async () => {
      if (++waiting === 3) release()
      await allWait
    }
    const folders = await Promise.all([install(together), install(together), install(together)])
    expect(new Set(folders).size).toBe(1)
    await access(program(folders[0]!))
    expect(await readdir(cache)).toHaveLength(1)
  })

  it('is another one for another lock, and goes when it was not asked for in 30 days', async () => {
    const unused = await install()
    await ageBy(join(unused, 'seal.json'), 31)
    const abandoned = `${unused}.left-by-a-dead-process`
    await mkdir(abandoned)
    await ageBy(abandoned, 1)
    await lockTo('2.0.0')
    const used = await install()
    expect(await names()).toEqual(namesOf(used))

    await ageBy(join(used, 'seal.json'), 31)
    expect(await install()).toBe(used)
    await lockTo('3.0.0')
    const last = await install()
    expect(await names()).toEqual(namesOf(used, last))
  })

  it('says what to do when it cannot be made, and leaves nothing behind', async () => {
    await rm(join(base, 'tiny-1.0.0.tgz'))
    await expect(install()).rejects.toThrow(/^Cannot install tiny into ".+"\. Check .+ run the tests again.+ENOENT/s)
    expect(await readdir(cache)).toEqual([])
    await rm(cache, { recursive: true })
    await writeFile(cache, 'not a folder')
    await expect(install()).rejects.toThrow(/^Cannot install tiny into ".+PAWL_TEST_CACHE/s)
  })
})
