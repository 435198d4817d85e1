import { createHash } from 'node:crypto'
import { mkdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { armFailpoints, fp } from '../base/failpoint.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { AuditVerdict } from '../domain/auth/audit.ts'
import { conflict } from '../domain/error.ts'
import { createAudit } from '../engine/auth/audit.ts'
import { type CheckedArchive, checkArchive } from '../store/backup/archive-reader.ts'
import type { BackupSummary } from '../store/backup/format.ts'
import { refuseOtherFiles } from '../store/backup/home-files.ts'
import { clearMark, readMark, setMark } from '../store/backup/marker.ts'
import { isRestored, refuseUsed, restoreBackup } from '../store/backup/restore.ts'
import { refuseNewer } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { findDaemon } from './machine/run-file.ts'

export interface Restored {
  readonly backup: BackupSummary
  readonly home: string
  readonly audit: AuditVerdict
  /** Secrets that nobody can open here until their key is brought. */
  readonly sealedSecrets: number
}

/**
 * Puts a backup into an empty home. Everything is compared with its hashes before anything is touched. What follows is cut short at any point without harm: until the
 * commit the database is empty and a mark says so; after it all is there.
 */
export async function restoreHome(options: {
  config: Config
  file: string
  log: Log
  clock?: Clock
  onPart?: (name: string) => void
}): Promise<Restored> {
  const { config, file, log, clock = systemClock } = options
  const { home } = config
  const archive = await checkArchive(file)
  const { header, manifest } = archive
  refuseNewer(header.migrations)
  const daemon = await findDaemon(home)
  if (daemon)
    throw conflict(`A daemon of this home is running (pid ${daemon.pid}); stop it with "pawl stop", then restore again.`)
  await mkdir(home, { recursive: true, mode: 0o700 })
  const mark = await readMark(home)
  const isOwnTry = mark?.backup === header.id
  if (!isOwnTry) await refuseOtherFiles(home, manifest.parts, (path) => isSameFile(home, path, archive))
  const store = await openStore({ home, url: config.database.url, log })
  try {
    armFailpoints(config.failpoints, { databasePid: () => store.serverPid, log })
    const client = await store.database.alone()
    try {
      if (!(isOwnTry && (await isRestored(client, header.id)))) {
        const ownConnections = store.database.pool.totalCount
        await refuseUsed(client, ownConnections)
        await setMark(home, { backup: header.id, file })
        await fp('restore.marked')
        await restoreBackup(client, archive, { home, now: new Date(clock.now()), ownConnections, onPart: options.onPart })
      }
      await clearMark(home)
      const { rows } = await client.query<{ count: number }>('select count(*)::integer as count from pawl.secrets')
      const audit = createAudit({ db: store.database.db, clock, log })
      const verdict = await audit.verify(manifest.audit.head === null ? {} : { contains: manifest.audit.head })
      return { backup: archive.summary, home, audit: verdict, sealedSecrets: header.withKeys ? 0 : (rows[0]?.count ?? 0) }
    } finally {
      await client.end()
    }
  } finally {
    await store.close()
  }
}

/** Refuses a file that cannot be restored by this program, and says what is in one that can. */
export async function verifyBackup(file: string): Promise<BackupSummary> {
  const { header, summary } = await checkArchive(file)
  refuseNewer(header.migrations)
  return summary
}

async function isSameFile(home: string, path: string, { manifest }: CheckedArchive): Promise<boolean> {
  const part = manifest.parts.find((one) => one.part !== 'table' && one.path === path)
  const full = join(home, path)
  const read = part?.part === 'link' ? readlink(full).then(Buffer.from) : readFile(full)
  const content = await read.catch(() => undefined)
  return content !== undefined && createHash('sha256').update(content).digest('hex') === part?.sha256
}
