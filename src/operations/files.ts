import type { Clock } from '../base/clock.ts'
import { localUser } from '../domain/auth/role.ts'
import { invalid, limited, notFound, PawlError } from '../domain/error.ts'
import { FileName } from '../domain/files/file-name.ts'
import { fileTypeOf, isProgram } from '../domain/files/file-type.ts'
import { defaultFileLimits, type FileLimits, megabyte, uploadKeptMs } from '../domain/files/limits.ts'
import { TooLarge } from '../domain/files/too-large.ts'
import type { ArtifactView, UploadView } from '../domain/files/view.ts'
import { newId } from '../domain/id.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { BlobContent, Blobs } from '../engine/files/blobs.ts'
import type { Journal } from '../engine/journal/journal.ts'
import type { Db } from '../store/database.ts'
import {
  type ArtifactRow,
  artifactsOfTask,
  findArtifact,
  findUploads,
  insertUpload,
  renewUpload,
  type UploadRow,
  uploadedBytes,
} from '../store/files.ts'
import { findTask } from '../store/tasks.ts'
import { isTheirs, noUpload } from './tasks/create/attachments.ts'

export interface FileVerbs {
  /** Takes a file in, to be attached to tasks. `size` is what the caller says it is; refused with `TooLarge` before anything is read if that is too much. */
  addUpload(upload: NewUpload, caller: Caller): Promise<UploadView>
  /** Everybody sees their own. */
  getUpload(id: string, caller: Caller): Promise<UploadView>
  /** What the runs of a task left for people, by name. */
  listArtifacts(task: string): Promise<ArtifactView[]>
  readArtifact(task: string, artifact: string): Promise<{ artifact: ArtifactView; content: BlobContent }>
}

export interface NewUpload {
  readonly name: string
  readonly content: AsyncIterable<Uint8Array>
  readonly size?: number | undefined
}

export interface FileVerbParts {
  readonly db: Db
  readonly clock: Clock
  readonly journal: Journal
  readonly assertRoom: () => Promise<void>
  /** Without them files are refused. */
  readonly blobs?: Blobs | undefined
  readonly files?: FileLimits | undefined
}

/** What one user may have handed in that no task has yet, in tasks full of files. */
const mostAhead = 10

export function fileVerbs({
  db,
  clock,
  journal,
  blobs: given,
  assertRoom,
  files: limits = defaultFileLimits,
}: FileVerbParts): FileVerbs {
  const blobs = () => {
    if (!given) throw new PawlError('unsupported', 'Files are not kept here.')
    return given
  }
  const existing = async (task: string) => {
    if (!(await translateDbErrors(() => findTask(db, task))))
      throw notFound(`There is no task ${task}; "pawl ls" lists those there are.`)
  }
  const oldest = () => new Date(clock.now() - uploadKeptMs)

  return {
    async addUpload({ name: said, content, size }, caller) {
      const name = FileName.safeParse(said)
      if (!name.success) throw invalid(`The file cannot be taken: ${name.error.issues[0]?.message}.`)
      const maxBytes = limits.uploadMb * megabyte
      if (size !== undefined && size > maxBytes) throw new TooLarge(maxBytes)
      await assertRoom()
      const user = caller.user ?? localUser
      const ahead = await translateDbErrors(() => uploadedBytes(db, user, oldest()))
      if (ahead + (size ?? 0) > mostAhead * limits.attachmentsMb * megabyte)
        throw limited(
          `${Math.round(ahead / megabyte)} MB were handed in within a day; wait until some of it is forgotten.`,
          3_600,
        )
      const received = await blobs().receive(content, { maxBytes })
      try {
        if (received.size === 0) throw invalid(`The file "${name.data}" is empty.`)
        const type = fileTypeOf(name.data, received.head)
        if (isProgram(type))
          throw invalid(`"${name.data}" is a program, and programs are not taken; hand in its source, or what it printed.`)
        const { sha256 } = received
        const at = new Date(clock.now())
        const row: UploadRow = {
          id: newId('upload', clock.now()),
          sha256,
          name: name.data,
          type,
          size: received.size,
          user_name: user,
          created_at: at,
        }
        // Whoever is not sure hands it in again, and gets the same: so a task that names it can be asked for again too.
        const id = await translateDbErrors(() =>
          journal.transact('upload.add', async (tx) => {
            await blobs().keep(tx, received)
            const there = await renewUpload(tx, row)
            if (there === undefined) await insertUpload(tx, row)
            return there ?? row.id
          }),
        )
        return uploadView({ ...row, id })
      } finally {
        await received.discard()
      }
    },

    async getUpload(id, caller) {
      const [row] = await translateDbErrors(() => findUploads(db, [id], oldest()))
      if (!row || !isTheirs(row, caller)) throw notFound(noUpload(id))
      return uploadView(row)
    },

    async listArtifacts(task) {
      await existing(task)
      return (await translateDbErrors(() => artifactsOfTask(db, task))).map(artifactView)
    },

    async readArtifact(task, id) {
      const row = await translateDbErrors(() => findArtifact(db, task, id))
      if (!row) throw notFound(`Task ${task} has left no file ${id}; "pawl task artifacts ${task}" lists what it has.`)
      return { artifact: artifactView(row), content: await translateDbErrors(() => blobs().read(row.sha256)) }
    },
  }
}

const uploadView = (row: UploadRow): UploadView => ({
  id: row.id,
  name: row.name,
  type: row.type,
  size: row.size,
  sha256: row.sha256,
  createdAt: row.created_at.toISOString(),
  expiresAt: new Date(row.created_at.getTime() + uploadKeptMs).toISOString(),
})

const artifactView = (row: ArtifactRow): ArtifactView => ({
  id: row.id,
  task: row.task_id,
  run: row.run_id,
  name: row.name,
  type: row.type,
  size: row.size,
  sha256: row.sha256,
  createdAt: row.created_at.toISOString(),
})
