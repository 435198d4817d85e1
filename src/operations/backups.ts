import { access, mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { conflict, invalid, messageOf, notFound, PawlError, unavailable } from '../domain/error.ts'
import { BackupName, type BackupUnderWay, type BackupView, type NewBackup } from '../domain/view/backup.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { peekArchive } from '../store/backup/archive-reader.ts'
import { unfinishedSuffix } from '../store/backup/archive-writer.ts'
import type { BackupHeader } from '../store/backup/format.ts'
import { takeBackup } from '../store/backup/take.ts'
import type { Database } from '../store/database.ts'

export interface BackupVerbs {
  /** Takes one now, while work goes on; done when it is whole and on disk. One at a time. */
  createBackup(how: BackupAsked, caller: Caller): Promise<BackupView>
  /** Those in the folder of backups, newest first. */
  listBackups(): Promise<BackupView[]>
  /** How far the one is that this process takes; null if it takes none. */
  backupUnderWay(): Promise<BackupUnderWay | null>
  /** Where the file of one lies, for somebody who takes it elsewhere. One that holds keys stays on its machine. */
  findBackup(name: string, caller: Caller): Promise<{ path: string; bytes: number }>
}

export interface BackupAsked extends NewBackup {
  /** Somewhere else than in the folder of backups. */
  readonly file?: string | undefined
  /** Only for whoever has the key anyway: the owner of the home, at its machine. */
  readonly withKeys?: boolean | undefined
  readonly onPart?: ((name: string, bytes: number) => void) | undefined
}

export interface BackupVerbParts {
  readonly home: string
  readonly clock: Clock
  readonly audit: Audit
  /** Without it no backup is taken here. */
  readonly backups?: BackupParts | undefined
}

export interface BackupParts {
  readonly database: Pick<Database, 'alone'>
  readonly folder: string
  readonly pawl: string
  readonly server: BackupHeader['database']
  /** Reads what is secret anew. */
  readonly hideKnown: () => Promise<void>
  readonly hide: (content: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

const suffix = '.pawl'

export function backupVerbs(parts: BackupVerbParts): BackupVerbs {
  const { home, clock, audit } = parts
  let underWay: BackupUnderWay | null = null
  const ready = () => {
    if (!parts.backups) throw unavailable('This program takes no backups; run "pawl backup".')
    return parts.backups
  }

  const take = async (how: BackupAsked, caller: Caller): Promise<BackupView> => {
    const { database, folder, pawl, server, hideKnown, hide } = ready()
    const now = new Date(clock.now())
    const file = how.file === undefined ? join(folder, `${fileName(now)}${suffix}`) : resolve(how.file)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    if (await isThere(file)) throw conflict(`${file} is there already; name another file.`)
    await sweep(dirname(file))
    await hideKnown()
    const client = await translateDbErrors(() => database.alone())
    const { withKeys = false, withWorkspaces = false, withLogs = false } = how
    const onPart: BackupAsked['onPart'] = (part, contentBytes) => {
      if (underWay) underWay = { ...underWay, part, contentBytes }
      how.onPart?.(part, contentBytes)
    }
    try {
      const options = { file, home, pawl, database: server, now, withKeys, withWorkspaces, withLogs, onPart, hide }
      const summary = await translateDbErrors(() => takeBackup(client, options))
      const view = { name: basename(file), ...summary }
      await audit.record(caller, 'backup.create', view.name, { id: view.id, bytes: view.bytes, withKeys })
      return view
    } catch (error) {
      if (error instanceof PawlError) throw error
      throw unavailable(
        `The backup ${file} could not be written: ${messageOf(error)}. Nothing was left behind; free space or name another place.`,
        error,
      )
    } finally {
      await client.end()
    }
  }

  return {
    async createBackup(how, caller) {
      if (underWay) throw conflict('A backup is being taken already; wait until it is done.')
      underWay = { startedAt: new Date(clock.now()).toISOString(), part: null, contentBytes: 0 }
      try {
        return await take(how, caller)
      } finally {
        underWay = null
      }
    },
    backupUnderWay: async () => underWay,
    async listBackups() {
      const { folder } = ready()
      const names = (await namesIn(folder)).filter((name) => BackupName.safeParse(name).success)
      const found = await Promise.all(
        names.map(async (name): Promise<BackupView[]> => {
          const summary = await peekArchive(join(folder, name))
          return summary ? [{ name, ...summary }] : []
        }),
      )
      return found.flat().sort((one, other) => other.takenAt.localeCompare(one.takenAt))
    },
    async findBackup(name, caller) {
      const path = join(ready().folder, name)
      const found = BackupName.safeParse(name).success ? await peekArchive(path) : undefined
      if (!found) throw notFound(`There is no backup "${name.slice(0, 200)}"; "pawl backup ls" lists those that are kept.`)
      if (found.withKeys)
        throw new PawlError(
          'denied',
          `The backup ${name} holds the key that opens the secrets, so it is not handed out; copy the file at the machine itself.`,
        )
      await audit.record(caller, 'backup.download', name, { id: found.id, bytes: found.bytes })
      return { path, bytes: found.bytes }
    },
  }
}

/** Sorted by name they are sorted by time, and no file system minds the signs. */
const fileName = (at: Date) => at.toISOString().replaceAll(':', '-').replace('T', '_').replace('Z', '')

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw invalid(`The folder ${folder} for backups cannot be read (${error.code}); name another with backup.folder.`)
  })
}

/** Removes what a process that was killed in the middle of a backup has left. */
async function sweep(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const pid = name.endsWith(unfinishedSuffix) ? /\.(\d+)\.unfinished$/.exec(name)?.[1] : undefined
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
