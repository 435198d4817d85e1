import { z } from 'zod'

/**
 * A backup is one file: eight bytes that name the format, then frames of one letter, a length (32 bits, big-endian) and that many bytes. `h` is the header, `p`
 * begins a part, `d` is a block of it (compressed with Zstandard, each by itself), `e` ends it, `m` is the manifest of all parts, and `z` holds the SHA-256 of everything before
 * it. A file without `z` was never finished. All but `d` and `z` is JSON.
 */
export const magic = Buffer.from('PAWLBAK1')
export const frameHead = 5
/** What claims to be longer was not written by us. The manifest has a line for every file, and a workspace may have hundreds of thousands. */
export const longestOf = (kind: FrameKind) => (kind === 'm' ? 384 << 20 : 64 << 20)
/** Blocks are written of a megabyte; one that grows beyond this when it is read is none of ours. */
export const longestBlock = 8 << 20

export type FrameKind = 'h' | 'p' | 'd' | 'e' | 'm' | 'z'

export const BackupHeader = z.object({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  pawl: z.string(),
  /** The migrations that had been applied. */
  migrations: z.array(z.int().positive()),
  takenAt: z.iso.datetime(),
  /** Where it was taken: folders of Pawl's own are named by it in the tables. */
  home: z.string(),
  database: z.object({ kind: z.enum(['embedded', 'url']), version: z.string() }),
  sequences: z.array(z.object({ name: z.string(), value: z.string().regex(/^-?\d+$/), isCalled: z.boolean() })),
  withKeys: z.boolean(),
  withWorkspaces: z.boolean(),
  withLogs: z.boolean(),
})
export type BackupHeader = z.infer<typeof BackupHeader>

export const PartBegin = z.discriminatedUnion('part', [
  z.object({ part: z.literal('table'), name: z.string(), columns: z.array(z.string()).min(1) }),
  z.object({ part: z.literal('file'), path: z.string(), mode: z.int().min(0).max(0o777) }),
  z.object({ part: z.literal('link'), path: z.string(), mode: z.int() }),
])
export type PartBegin = z.infer<typeof PartBegin>

export const PartEnd = z.object({ bytes: z.int().min(0), rows: z.int().min(0).optional(), sha256: z.string() })
export type PartEnd = z.infer<typeof PartEnd>

export const BackupManifest = z.object({
  parts: z.array(z.intersection(PartBegin, PartEnd)),
  /** The end of the audit's chain as it was, to be compared with what is there after a restore. */
  audit: z.object({ entries: z.int(), head: z.string().nullable() }),
})
export type BackupManifest = z.infer<typeof BackupManifest>

export interface BackupSummary {
  readonly id: string
  readonly pawl: string
  readonly schema: number
  readonly takenAt: string
  readonly tables: number
  readonly rows: number
  readonly files: number
  /** Before compression. */
  readonly contentBytes: number
  readonly bytes: number
  readonly withKeys: boolean
  readonly withWorkspaces: boolean
  readonly withLogs: boolean
}

export function summaryOf(header: BackupHeader, { parts }: BackupManifest, bytes: number): BackupSummary {
  const tables = parts.filter(({ part }) => part === 'table')
  return {
    id: header.id,
    pawl: header.pawl,
    schema: Math.max(0, ...header.migrations),
    takenAt: header.takenAt,
    tables: tables.length,
    rows: tables.reduce((sum, { rows = 0 }) => sum + rows, 0),
    files: parts.length - tables.length,
    contentBytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    bytes,
    withKeys: header.withKeys,
    withWorkspaces: header.withWorkspaces,
    withLogs: header.withLogs,
  }
}
