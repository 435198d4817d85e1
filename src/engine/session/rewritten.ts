import { createHash } from 'node:crypto'
import { fstatSync } from 'node:fs'
import type { RewrittenFiles } from '../../agents/port.ts'
import { putFile } from '../../sandbox/files/put-file.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Tx } from '../../store/database.ts'
import {
  type ArchivedFile,
  forgetFile,
  knownFiles,
  markOutgrown,
  putChunk,
  readChunk,
  replaceFile,
  setSize,
} from '../../store/session-archive.ts'
import type { Archived, ArchiveLimits } from './archive.ts'
import { digestOf, endOf, readAt } from './file-end.ts'
import { type Home, removeFile, withFile } from './home.ts'
import { tooLarge } from './too-large.ts'

/** A turn changes few places of a database: only blocks that have changed are stored. */
const blockBytes = 64 * 1024
/** Nobody writes when a turn is over; a program that still does gets a moment to end. */
const mostTries = 3

/**
 * Stores files that are rewritten, all as they are at one moment. They are not opened as what they are: an agent has written them, and what reads a database can be
 * deceived by one. A copy of all of them, made while nobody writes, is what a power cut would leave, and from that the program goes on.
 */
export async function archiveRewritten(
  tx: Tx,
  conversation: {
    readonly home: Home
    readonly session: string
    readonly vendorId: string
    readonly main: string
    readonly with: readonly string[]
    readonly at: Date
    readonly limits: ArchiveLimits
  },
): Promise<Archived> {
  const { home, session, vendorId, main, limits, at } = conversation
  const paths = [main, ...conversation.with]
  const known = new Map((await knownFiles(tx, session, vendorId)).map((file) => [file.path, file]))
  for (let tried = 1; ; tried++) {
    const before = await stampsOf(home, paths)
    const total = [...before.values()].reduce((sum, { size }) => sum + size, 0)
    if (total > limits.bytes || tried > mostTries) {
      const archived = known.get(main)
      if (archived) await markOutgrown(tx, archived.id)
      return { files: 0, bytes: 0, notes: [total > limits.bytes ? tooLarge([main], limits) : unsteady(main)] }
    }
    let bytes = 0
    for (const path of paths) {
      const found = known.get(path)
      if (!before.has(path)) {
        // One that belongs to an earlier moment would be taken for the end of this one.
        if (found) await forgetFile(tx, found.id)
        known.delete(path)
        continue
      }
      const row = { session_id: session, vendor_id: vendorId, path, is_main: path === main, archived_at: at }
      const id = found?.id ?? (await replaceFile(tx, row))
      bytes += await shipBlocks(tx, home, { path, id, at })
      known.set(path, { ...row, id, size: 0, tail_digest: Buffer.alloc(0), is_whole: true })
    }
    const after = await stampsOf(home, paths)
    if (paths.every((path) => before.get(path)?.stamp === after.get(path)?.stamp)) return { files: before.size, bytes, notes: [] }
  }
}

async function shipBlocks(tx: Tx, home: Home, { path, id, at }: { path: string; id: number; at: Date }): Promise<number> {
  let stored = 0
  await withFile(home, path, async (file, size) => {
    let end: Buffer = Buffer.alloc(0)
    let start = 0
    while (start < size) {
      const block = await readAt(file, start, Math.min(blockBytes, size - start))
      if (block.length === 0) break
      if (!(await readChunk(tx, id, start))?.equals(block)) {
        await putChunk(tx, id, start, block)
        stored += block.length
      }
      end = endOf(Buffer.concat([end, block]))
      start += block.length
    }
    await setSize(tx, id, { size: start, tailDigest: digestOf(end), at })
  })
  return stored
}

/** Whether somebody has written meanwhile shows in them. */
async function stampsOf(home: Home, paths: readonly string[]): Promise<Map<string, { size: number; stamp: string }>> {
  const stamps = new Map<string, { size: number; stamp: string }>()
  for (const path of paths)
    await withFile(home, path, async (file, size) => {
      const { mtimeNs, ino } = fstatSync(file, { bigint: true })
      stamps.set(path, { size, stamp: `${ino} ${size} ${mtimeNs}` })
    })
  return stamps
}

/**
 * Notes in the home what its files have gone on from. Files that are rewritten do not show it themselves, and a home on another machine may have missed a turn. An agent
 * that changes the note only makes its own conversation go back to what is archived.
 */
export async function markArchived(
  home: Home,
  main: string,
  archived: readonly ArchivedFile[],
  user?: AgentUser | undefined,
): Promise<void> {
  await putFile(home.root, noteOf(main), [Buffer.from(stateOf(archived))], user)
}

export async function isMarked(home: Home, main: string, archived: readonly ArchivedFile[]): Promise<boolean> {
  const expected = stateOf(archived)
  const noted = await withFile(home, noteOf(main), (file) => readAt(file, 0, expected.length + 1))
  return noted?.toString() === expected
}

/** Before files are put back: what is there belongs to another moment, and says so until all of them are. */
export async function clearRewritten(home: Home, main: string, files: RewrittenFiles): Promise<void> {
  for (const path of [noteOf(main), main, ...files.with, ...files.without]) await removeFile(home, path)
}

const noteOf = (main: string) => `${main}.pawl-archived`

const stateOf = (archived: readonly ArchivedFile[]) =>
  createHash('sha256')
    .update(JSON.stringify(archived.map((file) => [file.path, file.size, file.tail_digest.toString('hex'), file.archived_at])))
    .digest('hex')

const unsteady = (path: string) => ({
  code: 'archive_unsteady',
  detail: `${path} was still being written after the turn, and is not archived. If it is lost, the conversation is rebuilt from the journal.`,
})
