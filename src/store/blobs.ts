import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

/** Whoever makes something refer to a blob holds it together with others; who sweeps, alone. */
const lockKey = 7_295_024
/** The largest row. */
export const partBytes = 1024 * 1024

export async function holdBlobs(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${lockKey})`.execute(tx)
}

/** With its bytes, unless they lie in a file. One that is there already stays as it is. */
export async function insertBlob(
  tx: Tx,
  blob: { sha256: string; size: number; parts: readonly Uint8Array[] | undefined; at: Date },
): Promise<void> {
  const { rows } = await sql`
    insert into pawl.blobs (sha256, size, in_file, created_at) values (${blob.sha256}, ${blob.size}, ${blob.parts === undefined}, ${blob.at})
    on conflict (sha256) do nothing returning sha256
  `.execute(tx)
  if (rows.length === 0) return
  for (const [number, bytes] of (blob.parts ?? []).entries())
    await sql`insert into pawl.blob_parts (sha256, number, bytes) values (${blob.sha256}, ${number}, ${bytes})`.execute(tx)
}

export async function findBlob(db: Db, sha256: string): Promise<{ size: number; in_file: boolean } | undefined> {
  const { rows } = await sql<{ size: number; in_file: boolean }>`
    select size, in_file from pawl.blobs where sha256 = ${sha256}
  `.execute(db)
  return rows[0]
}

export async function readParts(db: Db, sha256: string): Promise<Buffer[]> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select bytes from pawl.blob_parts where sha256 = ${sha256} order by number
  `.execute(db)
  return rows.map((row) => row.bytes)
}

/** Which of these are known. */
export async function knownBlobs(tx: Tx, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ sha256: string }>`
    select sha256 from pawl.blobs where sha256 = any(${[...hashes]}::text[])
  `.execute(tx)
  return new Set(rows.map((row) => row.sha256))
}

/** Nobody else refers to a blob anew until the transaction ends. */
export async function holdBlobsAlone(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx)
}

/** Forgets uploads from before that time, and the blobs that nothing refers to. Answers the hashes of those that lie in files. */
export async function deleteUnused(tx: Tx, before: Date): Promise<string[]> {
  await sql`delete from pawl.uploads where created_at < ${before}`.execute(tx)
  const { rows } = await sql<{ sha256: string; in_file: boolean }>`
    delete from pawl.blobs b where not exists (select 1 from pawl.uploads u where u.sha256 = b.sha256)
      and not exists (select 1 from pawl.attachments a where a.sha256 = b.sha256)
      and not exists (select 1 from pawl.artifacts f where f.sha256 = b.sha256)
    returning sha256, in_file
  `.execute(tx)
  return rows.filter((row) => row.in_file).map((row) => row.sha256)
}
