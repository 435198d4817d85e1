import { closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { type Entry, entryOf } from '../../sandbox/files/entry.ts'
import { takingTurns } from '../base/turns.ts'

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
