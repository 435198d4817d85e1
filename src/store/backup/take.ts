import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { fp } from '../../base/failpoint.ts'
import { type ArchiveWriter, createArchive } from './archive-writer.ts'
import { appliedMigrations, columnList, named, readCatalog } from './catalog.ts'
import { copyOut } from './copy.ts'
import { type BackupHeader, type BackupSummary, summaryOf } from './format.ts'
import { homeEntries, type Kept } from './home-files.ts'

export interface TakeOptions extends Kept {
  readonly file: string
  readonly home: string
  readonly pawl: string
  readonly database: BackupHeader['database']
  readonly now: Date
  /** Called with the name of each part when it is written, and how many bytes there are by then. */
  readonly onPart?: ((name: string, bytes: number) => void) | undefined
}

/**
 * All of a store in one file, as it was in one moment: every table is read in the same snapshot, while work goes on. What the queue of jobs holds is left out: a job is
 * only the token that a run may start, and runs that have one are given back by recovery.
 */
export async function takeBackup(client: pg.Client, options: TakeOptions): Promise<BackupSummary> {
  const { file, home, onPart } = options
  await client.query('begin transaction isolation level repeatable read, read only')
  let archive: ArchiveWriter | undefined
  try {
    const migrations = await appliedMigrations(client)
    const { tables, sequences } = await readCatalog(client)
    const header: BackupHeader = {
      id: randomBytes(16).toString('hex'),
      pawl: options.pawl,
      migrations,
      takenAt: options.now.toISOString(),
      home,
      database: options.database,
      sequences: [...sequences],
      withKeys: options.withKeys,
      withWorkspaces: options.withWorkspaces,
      withLogs: options.withLogs,
    }
    archive = await createArchive(file, header)
    await fp('backup.begun')
    let total = 0
    for (const { name, columns } of tables) {
      const rows = copyOut(client, `copy (select ${columnList({ columns })} from ${named(name)}) to stdout`)
      total += (await archive.part({ part: 'table', name, columns: [...columns] }, rows)).bytes
      onPart?.(name, total)
    }
    const audit = await auditHead(client)
    // The snapshot is not needed for files, and holding it keeps the server from tidying up.
    await client.query('commit')
    for await (const { begin, blocks } of homeEntries(home, options)) {
      total += (await archive.part(begin, blocks)).bytes
      onPart?.(begin.path, total)
    }
    const { manifest, bytes } = await archive.finish(audit)
    return summaryOf(header, manifest, bytes)
  } catch (error) {
    await archive?.abandon()
    throw error
  }
}

export async function auditHead(client: pg.ClientBase): Promise<{ entries: number; head: string | null }> {
  const { rows } = await client.query<{ seq: number; head: string }>(
    "select seq::integer as seq, encode(hash, 'hex') as head from pawl.audit where seq is not null order by seq desc limit 1",
  )
  return { entries: rows[0]?.seq ?? 0, head: rows[0]?.head ?? null }
}
