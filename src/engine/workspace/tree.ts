import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { takingTurns } from '../base/turns.ts'

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

/** The handles on the way down stay open. What lies deeper cannot be brought back. */
const deepest = 200

/**
 * Goes from open folder to open folder, so that no link leads out. The calls wait, which is several times faster than calls that do not; every few
 * milliseconds everybody else gets a turn.
 */
export async function readTree(root: string, signal?: AbortSignal): Promise<Tree> {
  const tree: Tree = new Map()
  const turn = takingTurns()
  const walk = async (fd: number, folder: string, relative: string, depth: number): Promise<void> => {
    const here = process.platform === 'linux' ? `/proc/self/fd/${fd}` : folder
    for (const name of readdirSync(`${here}/.`)) {
      await turn()
      signal?.throwIfAborted()
      const path = relative === '' ? name : `${relative}/${name}`
      const entry = readEntry(`${here}/${name}`, name)
      const inside = entry.kind === 'directory' && depth < deepest ? openFolder(`${here}/${name}`) : undefined
      tree.set(path, entry.kind === 'directory' && inside === undefined ? { ...entry, kind: 'other' } : entry)
      if (inside === undefined) continue
      try {
        await walk(inside, `${here}/${name}`, path, depth + 1)
      } finally {
        closeSync(inside)
      }
    }
  }
  const top = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await walk(top, root, '', 0)
  } finally {
    closeSync(top)
  }
  return tree
}

/** Undefined if it is no folder any more. */
function openFolder(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

function readEntry(path: string, name: string): Entry {
  try {
    const stat = lstatSync(path, { bigint: true })
    return entryOf(stat, stat.isSymbolicLink() ? readlinkSync(path) : undefined)
  } catch (error) {
    const hasNoPath = name.includes('\ufffd') || (error as { code?: string }).code === 'ENAMETOOLONG'
    if (!hasNoPath) throw error
    return { kind: 'other', size: 0, mode: 0, mtimeNs: '', ctimeNs: '' }
  }
}

export async function entryAt(path: string): Promise<Entry> {
  const stat = lstatSync(path, { bigint: true })
  return entryOf(stat, stat.isSymbolicLink() ? readlinkSync(path) : undefined)
}

function entryOf(stat: BigIntStats, target: string | undefined): Entry {
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
