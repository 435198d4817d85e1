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
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

/** A home of its own for one test file, with a real database in it. */
export async function makeHome(
  prefix = 'pawl-test-',
  options: { bare?: boolean } = {},
): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  const dropDatabase = await giveDatabase(path, options)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      dropDatabase()
    },
  }
}

/**
 * Gives a home its database, as the first start would have made it, with its schema: a copy, because making one costs a test seconds where the disk is busy. It lies in memory where there is room, since
 * no test cuts the power; a killed process loses nothing there either. `bare` has no schema yet, as a restore wants it; `inside` lies in the home itself. Answers what removes it.
 */
export async function giveDatabase(home: string, options: { bare?: boolean; inside?: boolean } = {}): Promise<() => void> {
  const made = await databasePattern(options.bare ? 'bare' : 'ready')
  if (options.inside) {
    const folder = join(home, 'postgres')
    mkdirSync(folder, { recursive: true })
    await run('cp', ['-a', made, join(folder, 'data')])
    return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
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

const known = new Map<Form, Promise<string>>()
export type Form = 'ready' | 'bare'

/** Made once per version of the bundled server and of what we set in it, and kept. */
export function databasePattern(form: Form): Promise<string> {
  const made = known.get(form) ?? make(form)
  known.set(form, made)
  return made
}

async function make(form: Form): Promise<string> {
  tidy()
  const store = join(root, 'src/store')
  const migrations = readdirSync(join(store, 'migrations')).toSorted()
  const files = [
    'embedded/cluster.ts',
    'embedded/settings.ts',
    'embedded/holder.ts',
    ...migrations.map((name) => `migrations/${name}`),
  ]
  const sources = files.map((name) => readFileSync(join(store, name), 'utf8'))
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const digest = createHash('sha256')
    .update(JSON.stringify([dependencies, optionalDependencies, sources]))
    .digest('hex')
    .slice(0, 16)
  const kept = join(root, 'node_modules/.cache/pawl-test', `database-${form}-${digest}-${process.getuid?.() ?? 0}`)
  if (existsSync(kept)) return kept
  const home = mkdtempSync(join(tmpdir(), 'pawl-pattern-'))
  // Loaded by the first test file of all: the others need nothing of Pawl to have a home.
  const { makeDatabase } = await import('./make-database.ts')
  await makeDatabase(home, form)
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
}
