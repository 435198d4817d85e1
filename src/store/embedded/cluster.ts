import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import type { Binaries } from './binaries.ts'
import type { Identity } from './identity.ts'
import type { Layout } from './layout.ts'
import { isCode } from './lock.ts'
import { hostBasedAccess, tuning } from './settings.ts'

const run = promisify(execFile)

/** Makes the data directory ready for a start as this identity. Call it under the lock, with no server running. */
export async function prepareCluster(layout: Layout, binaries: Binaries, identity: Identity): Promise<void> {
  if (!existsSync(layout.dataDir)) await createCluster(layout, binaries, identity)
  giveTo(layout.dataDir, identity)
  // A copy brought back by hand often has other rights, which the server would refuse.
  chmodSync(layout.dataDir, 0o700)
  write(join(layout.dataDir, 'pawl.conf'), tuning, identity)
}

/** What half-finished first starts left; under the lock nobody else can be in the middle of one. */
export function removeUnfinished(layout: Layout): void {
  for (const name of readdirSync(layout.root)) {
    // Retries, because an initdb whose Pawl was killed may still be writing there.
    if (name.startsWith('init-'))
      rmSync(join(layout.root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** The major version that wrote the data directory; undefined when there is none yet. */
export function clusterVersion(layout: Layout): string | undefined {
  if (!existsSync(layout.dataDir)) return undefined
  try {
    return readFileSync(join(layout.dataDir, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if (isCode(error, 'EACCES')) {
      throw new PawlError(
        'denied',
        `The data directory "${layout.dataDir}" belongs to another user; run Pawl as that user, or choose another PAWL_HOME.`,
        { cause: error },
      )
    }
    throw unavailable(
      `"${layout.dataDir}" is not a PostgreSQL data directory (${messageOf(error)}). Restore it from a backup, or move it away to begin anew; ` +
        `the server's log is "${layout.logFile}".`,
      error,
    )
  }
}

export function assertSameMajor(layout: Layout, major: string): void {
  const found = clusterVersion(layout)
  if (found === undefined || found === major) return
  throw new PawlError(
    'unsupported',
    `The data directory "${layout.dataDir}" was written by PostgreSQL ${found}, and this Pawl brings PostgreSQL ${major}. ` +
      'Run "pawl export" with the Pawl version that wrote it, move the directory away, then run "pawl import" with this one.',
    { details: { found, expected: major } },
  )
}

async function createCluster(layout: Layout, binaries: Binaries, identity: Identity): Promise<void> {
  const unfinished = join(layout.root, `init-${randomUUID()}`)
  mkdirSync(unfinished, { mode: 0o700 })
  chownSync(unfinished, identity.uid, identity.gid)
  const [program = '', ...args] = [
    ...identity.prefix,
    binaries.initdb,
    ...['-D', unfinished, '-U', 'pawl', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--data-checksums', '--no-instructions'],
    // Small segments, so that the write-ahead log follows max_wal_size closely and an empty home stays small.
    '--wal-segsize=4',
  ]
  try {
    await run(program, args, { env: { ...binaries.env }, cwd: '/', timeout: 120_000, ...identity.spawnAs })
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    rmSync(unfinished, { recursive: true, force: true })
    throw unavailable(`The database could not be created in "${layout.root}": ${said || messageOf(error)}`, error)
  }
  const conf = join(unfinished, 'postgresql.conf')
  appendFileSync(conf, "\ninclude_if_exists = 'pawl.conf'\n", { flush: true })
  write(join(unfinished, 'pg_hba.conf'), hostBasedAccess, identity)
  syncDir(unfinished)
  renameSync(unfinished, layout.dataDir)
  syncDir(layout.root)
  syncDir(dirname(layout.root))
}

/** Root may have run the server in another way before. The directory itself comes last, so that an interrupted change is repeated. */
function giveTo(path: string, identity: Identity): void {
  const found = lstatSync(path)
  if (found.uid === identity.uid) return
  if (found.isDirectory()) for (const name of readdirSync(path)) giveTo(join(path, name), identity)
  lchownSync(path, identity.uid, identity.gid)
}

function write(path: string, text: string, { uid, gid }: Identity): void {
  const draft = `${path}.draft`
  writeFileSync(draft, text, { mode: 0o600, flush: true })
  chownSync(draft, uid, gid)
  renameSync(draft, path)
}

function syncDir(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
