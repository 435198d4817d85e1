import type { Clock } from '../../../base/clock.ts'
import { localUser } from '../../../domain/auth/role.ts'
import { invalid } from '../../../domain/error.ts'
import { distinctNames } from '../../../domain/files/file-name.ts'
import { defaultFileLimits, type FileLimits, megabyte, uploadKeptMs } from '../../../domain/files/limits.ts'
import type { Attachment } from '../../../domain/files/view.ts'
import type { Caller } from '../../../engine/auth/audit.ts'
import { mayAll } from '../../../engine/auth/may-ask.ts'
import { translateDbErrors } from '../../../engine/base/translate-db-errors.ts'
import type { Db } from '../../../store/database.ts'
import { findUploads, type UploadRow } from '../../../store/files.ts'

/** The files that a task is given, each under a name of its own, in the order in which they were named. */
export async function attachmentsOf(
  { db, clock, files: limits = defaultFileLimits }: { db: Db; clock: Clock; files?: FileLimits | undefined },
  ids: readonly string[],
  caller: Caller,
): Promise<Attachment[]> {
  if (ids.length > limits.attachments)
    throw invalid(`A task may have ${limits.attachments} files, and this one names ${ids.length} (files.attachments).`)
  const found = await translateDbErrors(() => findUploads(db, ids, new Date(clock.now() - uploadKeptMs)))
  const rows = ids.map((id) => {
    const row = found.find((upload) => upload.id === id)
    if (!row || !isTheirs(row, caller)) throw invalid(noUpload(id))
    return row
  })
  const bytes = rows.reduce((sum, { size }) => sum + size, 0)
  if (bytes > limits.attachmentsMb * megabyte)
    throw invalid(
      `The files of a task may have ${limits.attachmentsMb} MB together, and these have ${Math.ceil(bytes / megabyte)} MB (files.attachmentsMb).`,
    )
  const names = distinctNames(rows.map(({ name }) => name))
  return rows.map(({ type, size, sha256 }, i) => ({ name: names[i]!, type, size, sha256 }))
}

export const noUpload = (id: string) =>
  `There is no file ${id}: it was never handed in, or more than a day ago. Hand it in again.`

/** What somebody hands in is theirs until a task has it. */
export const isTheirs = (row: UploadRow, { user = localUser, standing }: Caller) => row.user_name === user || mayAll(standing)
