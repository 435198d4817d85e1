import { lstat, readdir, readlink } from 'node:fs/promises'
import { isAbsence } from '../files/directory-handle.ts'

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

/** Everything below a directory by its path; parents come before their children. */
export type Tree = Map<string, Entry>

export async function readTree(root: string, signal?: AbortSignal): Promise<Tree> {
  const tree: Tree = new Map()
  const walk = async (relative: string): Promise<void> => {
    signal?.throwIfAborted()
    for (const name of await readdir(`${root}/${relative}`)) {
      const path = relative === '' ? name : `${relative}/${name}`
      const entry = await readEntry(`${root}/${path}`, name)
      tree.set(path, entry)
      if (entry.kind === 'directory') await walk(path)
    }
  }
  await walk('')
  return tree
}

async function readEntry(path: string, name: string): Promise<Entry> {
  try {
    return await entryAt(path)
  } catch (error) {
    const hasNoPath = name.includes('\ufffd') || (error as { code?: string }).code === 'ENAMETOOLONG'
    if (!hasNoPath) throw error
    return { kind: 'other', size: 0, mode: 0, mtimeNs: '', ctimeNs: '' }
  }
}

export async function entryAt(path: string): Promise<Entry> {
  const stat = await lstat(path, { bigint: true })
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
  return {
    kind,
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o777,
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
    ...(kind === 'link' ? { target: await readlink(path) } : {}),
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
