import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib'
import { type Selectable, sql } from 'kysely'
import { atOnce, type Statements } from './at-once.ts'
import type { Db, Tx } from './database.ts'
import type { SessionFileRow } from './tables.ts'

export type ArchivedFile = Selectable<SessionFileRow>

/** No row holds more: a statement with one stays small for both sides. Packed, what cannot be made smaller grows a little, and stays below a mebibyte. */
export const maxChunkBytes = 1_000_000

/**
 * Keeps the lease of a run from being given away until the transaction ends. False if it is not this run's any more: then whoever asks must write nothing, neither
 * to the archive nor to the session's home.
 */
export async function holdLease(tx: Statements, run: { id: string; fence: number }): Promise<boolean> {
  const { rows } = await sql`select 1 from pawl.leases where run_id = ${run.id} and fence = ${run.fence} for share`.execute(tx)
  return rows.length === 1
}

/** All that is archived of a session, of whatever conversation. */
export async function filesOfSession(tx: Statements, session: string): Promise<ArchivedFile[]> {
  const { rows } = await sql<ArchivedFile>`select * from pawl.session_files where session_id = ${session}`.execute(tx)
  return rows
}

/** What is archived of a session's conversation, its own file first. */
export async function knownFiles(db: Db | Tx, session: string, vendorId: string): Promise<ArchivedFile[]> {
  return db
    .selectFrom('pawl.session_files')
    .selectAll()
    .where('session_id', '=', session)
    .where('vendor_id', '=', vendorId)
    .orderBy('is_main', 'desc')
    .orderBy('path')
    .execute()
}

type NewFile = Pick<ArchivedFile, 'session_id' | 'vendor_id' | 'path' | 'is_main' | 'archived_at'>

/** Begins a file anew, without what was stored of it; answers its number. */
export async function replaceFile(tx: Tx, file: NewFile): Promise<number> {
  const [, { rows }] = await atOnce(tx, (one) => [
    forgetPath(one, file),
    insertFile(file, { size: 0, tailDigest: Buffer.alloc(0), isWhole: false }).execute(one),
  ])
  return rows[0]!.id
}

/** The same with the first bytes of it, in one trip. */
export async function replaceFileWith(tx: Tx, file: NewFile, first: PackedChunk, tailDigest: Buffer): Promise<number> {
  const { length, packed } = first
  const [, { rows }] = await atOnce(tx, (one) => [
    forgetPath(one, file),
    sql<{ id: number }>`
      with made as (${insertFile(file, { size: length, tailDigest, isWhole: true })})
      insert into pawl.session_chunks (file_id, start, length, bytes) select id, 0, ${length}, ${packed} from made returning file_id as id
    `.execute(one),
  ])
  return rows[0]!.id
}

const forgetPath = (tx: Statements, { session_id, vendor_id, path }: NewFile) =>
  sql`delete from pawl.session_files where session_id = ${session_id} and vendor_id = ${vendor_id} and path = ${path}`.execute(tx)

const insertFile = (file: NewFile, { size, tailDigest, isWhole }: { size: number; tailDigest: Buffer; isWhole: boolean }) =>
  sql<{ id: number }>`
    insert into pawl.session_files (session_id, vendor_id, path, is_main, size, tail_digest, is_whole, archived_at)
    values (${file.session_id}, ${file.vendor_id}, ${file.path}, ${file.is_main}, ${size}, ${tailDigest}, ${isWhole}, ${file.archived_at}) returning id
  `

/** Stores the next bytes of a file, in as many chunks as they need. */
export async function appendChunks(tx: Tx, file: number, start: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += maxChunkBytes)
    await appendChunk(tx, file, start + at, await packChunk(bytes.subarray(at, at + maxChunkBytes)))
}

/** Bytes as they are stored, and how many they were. */
export interface PackedChunk {
  readonly length: number
  readonly packed: Buffer
}

/** A little is packed at once, which costs less than to ask another thread for it. */
export async function packChunk(bytes: Buffer): Promise<PackedChunk> {
  const options = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }
  return {
    length: bytes.length,
    packed: bytes.length <= littleBytes ? zstdCompressSync(bytes, options) : await pack(bytes, options),
  }
}

const littleBytes = 64 * 1024

export const appendChunk = (tx: Statements, file: number, start: number, { length, packed }: PackedChunk) =>
  sql`insert into pawl.session_chunks (file_id, start, length, bytes) values (${file}, ${start}, ${length}, ${packed})`.execute(
    tx,
  )

const pack = promisify(zstdCompress)
const unpack = promisify(zstdDecompress)

/** Says how far a file is stored after chunks were appended from `from` on. */
export async function growFile(tx: Statements, id: number, grown: { from: number; size: number; tailDigest: Buffer; at: Date }) {
  const { rows } = await sql`
    update pawl.session_files set size = ${grown.size}, tail_digest = ${grown.tailDigest}, is_whole = true, archived_at = ${grown.at}
    where id = ${id} and size = ${grown.from} returning id
  `.execute(tx)
  if (rows.length !== 1) throw new Error(`archived file ${id} does not end at ${grown.from}`)
}

/** One block of a file that is rewritten, as it is stored. Undefined if there is none, or it is damaged. */
export async function readChunk(tx: Tx, file: number, start: number): Promise<Buffer | undefined> {
  const { rows } = await sql<{
    bytes: Buffer
  }>`select bytes from pawl.session_chunks where file_id = ${file} and start = ${start}`.execute(tx)
  return rows[0] && (await unpack(rows[0].bytes, { maxOutputLength: maxChunkBytes }).catch(() => undefined))
}

/** Stores a block in the place of the one that was there. */
export async function putChunk(tx: Tx, file: number, start: number, bytes: Buffer): Promise<void> {
  await sql`delete from pawl.session_chunks where file_id = ${file} and start = ${start}`.execute(tx)
  await appendChunks(tx, file, start, bytes)
}

/** Says how far a file is stored that was rewritten, and drops what lies behind its end. */
export async function setSize(tx: Tx, id: number, now: { size: number; tailDigest: Buffer; at: Date }): Promise<void> {
  await sql`delete from pawl.session_chunks where file_id = ${id} and start >= ${now.size}`.execute(tx)
  await sql`
    update pawl.session_files set size = ${now.size}, tail_digest = ${now.tailDigest}, is_whole = true, archived_at = ${now.at} where id = ${id}
  `.execute(tx)
}

/** Drops all that is stored of a file. */
export async function forgetFile(tx: Tx, id: number): Promise<void> {
  await sql`delete from pawl.session_files where id = ${id}`.execute(tx)
}

/** The file has grown past what is stored: that is an older state of it from now on. */
export async function markOutgrown(tx: Tx, id: number): Promise<void> {
  await sql`update pawl.session_files set is_whole = false where id = ${id} and is_whole`.execute(tx)
}

/** A session has one conversation: what is archived of others, or of this one where it lay before, goes. */
export async function forgetOthers(
  tx: Tx,
  kept: { readonly session: string; readonly vendorId: string; readonly mainPath: string },
): Promise<void> {
  await sql`
    delete from pawl.session_files where session_id = ${kept.session} and (vendor_id <> ${kept.vendorId} or (is_main and path <> ${kept.mainPath}))
  `.execute(tx)
}

/** The bytes of a file, a few chunks at a time. Ends early at a chunk that is missing or damaged: the reader counts. */
export async function* readFile(db: Db | Tx, file: Pick<ArchivedFile, 'id' | 'size'>): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.size; ) {
    const { rows } = await sql<{ start: number; bytes: Buffer }>`
      select start, bytes from pawl.session_chunks where file_id = ${file.id} and start >= ${at} and start < ${at + maxChunkBytes} order by start
    `.execute(db)
    if (rows.length === 0) return
    for (const { start, bytes } of rows) {
      const chunk = start === at ? await unpack(bytes, { maxOutputLength: maxChunkBytes }).catch(() => undefined) : undefined
      if (!chunk) return
      yield chunk
      at += chunk.length
    }
  }
}

/** How many bytes of a session's files are archived. */
export async function archiveSize(db: Db | Tx, session: string): Promise<number> {
  const { rows } = await sql<{
    bytes: number
  }>`select coalesce(sum(size), 0) as bytes from pawl.session_files where session_id = ${session}`.execute(db)
  return rows[0]?.bytes ?? 0
}
