import { takingTurns } from '../../base/turns.ts'

/** One entry of an index of git: what is staged, without what git knows of the file on the disk. */
export interface IndexEntry {
  readonly mode: number
  readonly id: string
  readonly isSkipped: boolean
  readonly isAssumedUnchanged: boolean
}

/** By stage, a tab and the path; paths byte for byte, as latin1. */
export type GitIndex = ReadonlyMap<string, IndexEntry>

export const gitlinkMode = 0o160000
export const pathOf = (key: string): string => key.slice(2)
/** As people and file systems call it. */
export const nameOf = (key: string): string => Buffer.from(pathOf(key), 'latin1').toString('utf8')

const [assumed, extended, skipped, nameMask] = [0x8000, 0x4000, 0x4000, 0x0fff]

/** No longer path can be opened. Version 4 says of each path only how it differs from the one before: without a bound, a megabyte of it would become gigabytes. */
const longestPath = 4_096
/** Each takes some hundred bytes of memory. */
const mostEntries = 10_000_000

/**
 * Reads versions 2 to 4, giving everybody else a turn now and then; `most` is how many entries there may be. Strict: undefined for what is damaged, and for what an index cannot be understood without (one that is split, or that holds whole
 * folders as one entry). Extensions that git could do without are passed over.
 */
export async function parseIndex(bytes: Buffer, idBytes: number, most = mostEntries): Promise<GitIndex | undefined> {
  try {
    return await parse(bytes, idBytes, most)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

async function parse(bytes: Buffer, idBytes: number, most: number): Promise<GitIndex | undefined> {
  const end = bytes.length - idBytes
  if (end < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  const count = bytes.readUInt32BE(8)
  if (version < 2 || version > 4 || count > most) return undefined
  const turn = takingTurns()
  const entries = new Map<string, IndexEntry>()
  let at = 12
  let before = ''
  for (let n = 0; n < count; n++) {
    if (n % 256 === 0) await turn()
    const begin = at
    const mode = bytes.readUInt32BE(begin + 24)
    at = begin + 40
    const id = bytes.toString('hex', at, at + idBytes)
    at += idBytes
    const flags = bytes.readUInt16BE(at)
    at += 2
    let more = 0
    if ((flags & extended) !== 0) {
      if (version < 3) return undefined
      more = bytes.readUInt16BE(at)
      at += 2
    }
    let kept = ''
    if (version === 4) {
      const [strip, next] = readOffset(bytes, at)
      if (strip > before.length) return undefined
      kept = before.slice(0, before.length - strip)
      at = next
    }
    const nul = bytes.indexOf(0, at)
    if (nul === -1 || nul >= end) return undefined
    const path = kept + bytes.toString('latin1', at, nul)
    const length = flags & nameMask
    if (path === '' || path.length > longestPath || (length < nameMask && length !== path.length)) return undefined
    at = version === 4 ? nul + 1 : begin + ((nul - begin + 8) & ~7)
    before = path
    entries.set(`${(flags >> 12) & 3}\t${path}`, {
      mode,
      id,
      isSkipped: (more & skipped) !== 0,
      isAssumedUnchanged: (flags & assumed) !== 0,
    })
  }
  if (entries.size !== count) return undefined
  while (at < end) {
    // A small letter at the beginning: nobody may pass it over.
    if (bytes[at]! >= 0x61) return undefined
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return at === end ? entries : undefined
}

/** The encoding of offsets in packs. */
function readOffset(bytes: Buffer, start: number): [value: number, next: number] {
  let at = start
  let byte = bytes.readUInt8(at++)
  let value = byte & 0x7f
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(at++)
    value = (value + 1) * 128 + (byte & 0x7f)
    if (value > 0xffff) throw new RangeError('too far back')
  }
  return [value, at]
}

export const isSameEntry = (a: IndexEntry | undefined, b: IndexEntry | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.id === b.id &&
    a.mode === b.mode &&
    a.isSkipped === b.isSkipped &&
    a.isAssumedUnchanged === b.isAssumedUnchanged)

/** What is different, by key: undefined in the place of an entry that is gone. */
export function indexChanges(before: GitIndex, after: GitIndex): Map<string, IndexEntry | undefined> {
  const changes = new Map<string, IndexEntry | undefined>()
  for (const key of before.keys()) if (!after.has(key)) changes.set(key, undefined)
  for (const [key, entry] of after) if (!isSameEntry(before.get(key), entry)) changes.set(key, entry)
  return changes
}
