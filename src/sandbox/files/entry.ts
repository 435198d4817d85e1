import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs'
import { isAbsence } from './directory-handle.ts'

/** What has a name in a folder that an agent can write. The paths that are taken here come from an open folder. */
export interface Entry {
  /** `other` is what cannot be brought back: pipes, sockets, devices, and names that are not text or too long. */
  kind: 'file' | 'directory' | 'link' | 'other'
  size: number
  /** The nine permission bits: set-user-id and the like are never brought back. */
  mode: number
  mtimeNs: string
  /** Of the copy: changes with every write, whatever the agent does to the other times. */
  ctimeNs: string
  target?: string
}

export async function entryAt(path: string): Promise<Entry> {
  const stat = lstatSync(path, { bigint: true })
  return entryOf(stat, stat.isSymbolicLink() ? readlinkSync(path) : undefined)
}

export function entryOf(stat: BigIntStats, target: string | undefined): Entry {
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
  return {
    kind,
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o777,
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
    ...(target === undefined ? {} : { target }),
  }
}

export async function entryIfAny(path: string): Promise<Entry | undefined> {
  try {
    return await entryAt(path)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

export const sameInCopy = (before: Entry, entry: Entry) => before.kind === entry.kind && before.ctimeNs === entry.ctimeNs

export const sameContent = (a: Entry, b: Entry) =>
  a.kind === b.kind &&
  (a.kind === 'directory' ||
    (a.kind === 'link' ? a.target === b.target : a.size === b.size && a.mtimeNs === b.mtimeNs && a.mode === b.mode))
