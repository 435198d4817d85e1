import type { SessionFiles } from '../../agents/port.ts'
import { atOnce } from '../../store/at-once.ts'
import type { Db, Tx } from '../../store/database.ts'
import {
  type ArchivedFile,
  appendChunk,
  filesOfSession,
  forgetOthers,
  growFile,
  holdLease,
  knownFiles,
  markOutgrown,
  maxChunkBytes,
  packChunk,
  replaceFile,
  replaceFileWith,
} from '../../store/session-archive.ts'
import { digestOf, endOf, readAt, readEnd } from './file-end.ts'
import { filesBelow, findConversation, type Home, lookFor, openHome, withFile } from './home.ts'
import { archiveRewritten, markArchived } from './rewritten.ts'
import { tooLarge } from './too-large.ts'

export interface Archived {
  /** Files of which something was stored, and how many bytes that was. */
  readonly files: number
  readonly bytes: number
  /** What a reader of the run should know. */
  readonly notes: readonly { readonly code: string; readonly detail: string }[]
}

export interface ArchiveLimits {
  readonly bytes: number
  readonly files: number
}
const defaultLimits: ArchiveLimits = { bytes: 64 * 1024 * 1024, files: 1_000 }

/**
 * Stores what a conversation's files have gained since the last time. Only what the adapter's layouts name is ever read, so logins and caches stay out.
 * Undefined if the run is over for us: then nothing was stored.
 */
export async function archiveSession(options: {
  readonly db: Db
  readonly home: string
  readonly files: SessionFiles
  readonly session: string
  readonly vendorId: string
  readonly run: { readonly id: string; readonly fence: number }
  readonly at: Date
  readonly limits?: ArchiveLimits
}): Promise<Archived | undefined> {
  const { db, files, session, vendorId, run, at, limits } = options
  const home = await openHome(options.home)
  if (!home) return { files: 0, bytes: 0, notes: [] }
  try {
    const main = await findConversation(home, files, vendorId)
    if (!main) return { files: 0, bytes: 0, notes: [] }
    const archived = await db.transaction().execute(async (tx) => {
      const [isOurs, stored] = await atOnce(tx, (one) => [holdLease(one, run), filesOfSession(one, session)])
      if (!isOurs) return undefined
      return archiveConversation(tx, { home, files, session, vendorId, main: main.path, stored, at, limits })
    })
    if (archived && files.rewritten) await markArchived(home, main.path, await knownFiles(db, session, vendorId))
    return archived
  } finally {
    await home.root.close()
  }
}

/** The same within a transaction of the caller's, who has made sure that nobody else archives this session. */
export async function archiveConversation(
  tx: Tx,
  conversation: {
    readonly home: Home
    readonly files: SessionFiles
    readonly session: string
    readonly vendorId: string
    readonly main: string
    /** What the transaction has found of the session. */
    readonly stored: readonly ArchivedFile[]
    readonly at: Date
    readonly limits?: ArchiveLimits | undefined
  },
): Promise<Archived> {
  const { home, session, vendorId, main, at, limits = defaultLimits } = conversation
  const isOther = (file: ArchivedFile) => file.vendor_id !== vendorId || (file.is_main && file.path !== main)
  if (conversation.stored.some(isOther)) await forgetOthers(tx, { session, vendorId, mainPath: main })
  if (conversation.files.rewritten)
    return archiveRewritten(tx, { ...conversation, with: conversation.files.rewritten.with, limits })
  const known = new Map(conversation.stored.filter((file) => !isOther(file)).map((file) => [file.path, file]))
  const beside = await filesBeside(conversation, limits.files)
  let room = limits.bytes
  let stored = { files: 0, bytes: 0 }
  const leftOut: string[] = []
  for (const path of [main, ...beside]) {
    // Without the conversation itself the rest is of no use.
    if (leftOut[0] === main) break
    const before = known.get(path)
    await withFile(home, path, async (file, size) => {
      if (size > room) {
        leftOut.push(path)
        if (before) await markOutgrown(tx, before.id)
        return
      }
      room -= size
      const row = { session_id: session, vendor_id: vendorId, path, is_main: path === main, archived_at: at }
      const bytes = await shipFile(tx, { file, size, before, row })
      if (bytes > 0) stored = { files: stored.files + 1, bytes: stored.bytes + bytes }
    })
  }
  return { ...stored, notes: leftOut.length > 0 ? [tooLarge(leftOut, limits)] : [] }
}

/** The folders beside the conversation's file, without that file. */
export async function filesBeside(
  conversation: { home: Home; files: SessionFiles; vendorId: string; main: string },
  most = defaultLimits.files,
): Promise<string[]> {
  const { home, files, vendorId, main } = conversation
  const found = new Set<string>()
  for (const path of files.rewritten?.with ?? []) if (await lookFor(home, path)) found.add(path)
  for (const folder of files.beside?.(main, vendorId) ?? [])
    for (const path of await filesBelow(home, folder, { most: most - found.size })) if (path !== main) found.add(path)
  return [...found]
}

/** Appends the tail of a file that still begins with what is stored, else stores it anew; answers how many bytes. */
async function shipFile(
  tx: Tx,
  ship: {
    readonly file: number
    readonly size: number
    readonly before: ArchivedFile | undefined
    readonly row: Omit<ArchivedFile, 'id' | 'size' | 'tail_digest' | 'is_whole'>
  },
): Promise<number> {
  const { file, size, before, row } = ship
  const compared = before && before.size <= size ? await readEnd(file, before.size) : undefined
  const isGrown = before !== undefined && compared !== undefined && digestOf(compared).equals(before.tail_digest)
  if (isGrown && before.size === size && before.is_whole) return 0

  const from = isGrown ? before.size : 0
  let id = isGrown ? before.id : undefined
  let tail = isGrown ? compared : Buffer.alloc(0)
  let at = from
  const grown = (bytes: number) => ({ from: at, size: at + bytes, tailDigest: digestOf(tail), at: row.archived_at })
  while (at < size) {
    const bytes = await readAt(file, at, Math.min(maxChunkBytes, size - at))
    // Cut short while we read: what we have is what there is.
    if (bytes.length === 0) break
    const packed = await packChunk(bytes)
    tail = endOf(Buffer.concat([tail, bytes]))
    const begun = id
    if (begun === undefined) id = await replaceFileWith(tx, row, packed, digestOf(tail))
    else await atOnce(tx, (one) => [appendChunk(one, begun, at, packed), growFile(one, begun, grown(bytes.length))])
    at += bytes.length
  }
  if (at === from) await growFile(tx, id ?? (await replaceFile(tx, row)), grown(0))
  return at - from
}

/** Does a file still begin with what is archived of it? */
export async function beginsWith(file: number, archived: Pick<ArchivedFile, 'size' | 'tail_digest'>): Promise<boolean> {
  return digestOf(await readEnd(file, archived.size)).equals(archived.tail_digest)
}
