import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { silentLog } from '../../src/log.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

/**
 * Gives a home its database, as the first start would have made it: a copy, because making one costs a test seconds where the disk is busy. It lies in memory where there is room, since
 * no test cuts the power; a killed process loses nothing there either. Answers what removes it.
 */
export async function giveDatabase(home: string): Promise<() => void> {
  const made = await pattern()
  const folder = mkdtempSync(join(memory() ?? home, prefix))
  await run('cp', ['-a', made, join(folder, 'data')])
  symlinkSync(folder, join(home, 'postgres'))
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

const prefix = 'pawl-database-'
const neededBytes = 2 ** 30
const longestRunMs = 6 * 3_600_000

/** Containers often have 64 MB there. */
function memory(): string | undefined {
  if (!existsSync('/dev/shm')) return undefined
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > neededBytes ? '/dev/shm' : undefined
}

/** What test runs left that were killed: memory is not emptied by anybody else. */
function tidy(): void {
  const folder = memory()
  if (folder === undefined) return
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > longestRunMs) rmSync(path, { recursive: true, force: true })
  }
}

let known: Promise<string> | undefined

/** Made once per version of the bundled server and of what we set in it, and kept. */
function pattern(): Promise<string> {
  known ??= (async () => {
    tidy()
    const sources = ['cluster.ts', 'settings.ts', 'holder.ts'].map((name) =>
      readFileSync(join(root, 'src/store/embedded', name), 'utf8'),
    )
    const bundled = readFileSync(join(root, 'package.json'), 'utf8')
    const digest = createHash('sha256')
      .update(JSON.stringify([bundled, sources]))
      .digest('hex')
      .slice(0, 16)
    const kept = join(root, 'node_modules/.cache/pawl-test', `database-${digest}-${process.getuid?.() ?? 0}`)
    if (existsSync(kept)) return kept
    const home = mkdtempSync(join(tmpdir(), 'pawl-pattern-'))
    await (await openEmbedded({ home, log: silentLog })).release()
    mkdirSync(resolve(kept, '..'), { recursive: true })
    const draft = mkdtempSync(`${kept}-`)
    await run('cp', ['-a', join(home, 'postgres/data'), join(draft, 'data')])
    rmSync(home, { recursive: true, force: true })
    try {
      renameSync(join(draft, 'data'), kept)
    } catch (error) {
      // Another test file was quicker.
      if (!existsSync(kept)) throw error
    }
    rmSync(draft, { recursive: true, force: true })
    return kept
  })()
  return known
}
