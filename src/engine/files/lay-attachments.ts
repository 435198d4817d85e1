import { createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, rename, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { TurnImage } from '../../agents/port.ts'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { isImage } from '../../domain/files/file-type.ts'
import type { Attachment } from '../../domain/files/view.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { Walls } from '../../sandbox/port.ts'
import { attachmentsOfSession } from '../../store/files.ts'
import type { TakenRun } from '../../store/runs.ts'
import { failingAs } from '../base/failure.ts'
import type { RunServices } from '../base/run-services.ts'
import type { Blobs } from './blobs.ts'
import { laidFolder } from './sweep.ts'

/** The files that the tasks of a session were given, where its agent sees them. */
export interface LaidAttachments {
  /** The folder of all of them; undefined if there are none. */
  readonly folder?: string | undefined
  /** The folder of this task's own. */
  readonly own?: string | undefined
  readonly mounts: NonNullable<Walls['mounts']>
  /** What the prompt says of this task's own. */
  readonly told?: string | undefined
  readonly images: readonly TurnImage[]
}

/** A place of the walls' own, the same on every machine: a conversation that goes on elsewhere finds the files where it was told. */
const inside = sandboxPath('/run/pawl-attachments')
/** Model providers take no larger ones; the file is there in any case. */
const largestImage = 3_500_000

const none: LaidAttachments = { mounts: [], images: [] }

/** Lays out what the store has, outside of the workspace and read-only. Those of earlier tasks of the session are there too: its conversation knows of them. */
export async function layAttachments(
  { task, session }: TakenRun,
  { db, home, files }: Pick<RunServices, 'db' | 'home'> & { readonly files: { readonly blobs: Blobs } },
  { enforced }: { enforced: boolean },
): Promise<LaidAttachments> {
  if (!session.has_attachments) return none
  const folder = laidFolder(home, session.id)
  const all = await attachmentsOfSession(db, session.id)
  for (const { task: id, attachments } of all)
    for (const file of attachments)
      await failingAs('workspace_error', () => lay(files.blobs, join(folder, id), file, { trusts: enforced }))
  const seen = enforced ? inside : folder
  const own = task.spec.attachments ?? []
  const pathOf = ({ name }: Attachment) => posix.join(seen, task.id, name)
  return {
    folder: seen,
    own: own.length > 0 ? posix.join(seen, task.id) : undefined,
    mounts: enforced ? [{ source: hostPath(folder), path: inside, mode: 'ro' }] : [],
    told: own.length > 0 ? [opening, ...own.map((file) => line(pathOf(file), file))].join('\n') : undefined,
    images: own
      .filter(({ type, size }) => isImage(type) && size <= largestImage)
      .map((file) => ({ path: pathOf(file), type: file.type, read: () => wholeOf(files.blobs, file.sha256) })),
  }
}

/** Whether a prompt tells of files: then their images go with it. One that is said again in a replay names them where they were then. */
export const tellsOfFiles = (prompt: string) => prompt.includes(opening)

const opening = 'These files were attached to the task. They can be read, not changed:'
const line = (path: string, { type, size }: Attachment) => `- ${path} (${type}, ${size} bytes)`

/** What lies there already is what we laid there, where an agent could not reach it. */
async function lay(blobs: Blobs, folder: string, file: Attachment, { trusts }: { trusts: boolean }): Promise<void> {
  const path = join(folder, file.name)
  const there = await lstat(path).catch(() => undefined)
  if (trusts && there?.isFile() && there.size === file.size && there.nlink === 1) return
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const unfinished = join(folder, `.pawl${temporarySuffix()}`)
  const content = await blobs.read(file.sha256)
  try {
    await pipeline(content.bytes(), createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await chmod(unfinished, 0o444)
    await rename(unfinished, path)
  } finally {
    await content.close()
    await rm(unfinished, { force: true })
  }
}

async function wholeOf(blobs: Blobs, sha256: string): Promise<Uint8Array> {
  const content = await blobs.read(sha256)
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of content.bytes()) pieces.push(piece)
    return Buffer.concat(pieces)
  } finally {
    await content.close()
  }
}
