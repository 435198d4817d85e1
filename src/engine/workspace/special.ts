import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { type DirectoryHandle, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { letIn } from '../../sandbox/files/let-in.ts'
import { takingTurns } from '../base/turns.ts'

export interface Special {
  /** Files and folders whose set-user-ID, set-group-ID or sticky bit was taken away. */
  readonly cleared: readonly string[]
  /** Pipes, sockets and devices: whoever opens one for a file may wait for ever. */
  readonly left: readonly string[]
}

/** Names an entry without opening it, for which no permission is needed. Node has no name for it. */
const byPath = 0o10000000
/** The handles on the way down stay open. What lies deeper was moved out as a whole, if it is new. */
const deepest = 200
const bits = 0o7000

/**
 * Takes these bits from what changed since a run began: with one, whoever starts the file has the rights of its owner. `before` are the folders that had one then; a folder made in one of
 * them has its set-group-ID bit from there. The kernel sets the time by which a change is told, and nobody else can. By handles, one after the other, so that no link leads out.
 */
export async function clearSpecialBits(
  root: string,
  { since, before }: { readonly since: number; readonly before: ReadonlySet<string> },
): Promise<Special> {
  const cleared: string[] = []
  const left: string[] = []
  const turn = takingTurns()
  const isNew = (stat: Stats) => stat.ctimeMs >= since

  const clear = (folder: DirectoryHandle, name: string): void => {
    const fd = openSync(folder.at(name), byPath | constants.O_NOFOLLOW)
    try {
      chmodSync(`/proc/self/fd/${fd}`, fstatSync(fd).mode & 0o777)
    } finally {
      closeSync(fd)
    }
  }
  /** `inherits`: folders made in it get the set-group-ID bit from it. */
  const walk = async (folder: DirectoryHandle, path: string, depth: number, inherits: boolean): Promise<void> => {
    for (const entry of readdirSync(folder.at('.'), { withFileTypes: true })) {
      if (entry.isSymbolicLink() || entry.name.includes('\ufffd')) continue
      await turn()
      const below = join(path, entry.name)
      const stat = lstatSync(folder.at(entry.name), { throwIfNoEntry: false })
      if (!stat || stat.isSymbolicLink()) continue
      const isFolder = stat.isDirectory()
      if (!isFolder && !stat.isFile()) {
        if (isNew(stat)) left.push(below)
        continue
      }
      const isTheirs = isFolder && (before.has(below) || (inherits && (stat.mode & bits) === 0o2000))
      if ((stat.mode & bits) !== 0 && isNew(stat) && !isTheirs) {
        clear(folder, entry.name)
        cleared.push(below)
      }
      if (!isFolder || depth >= deepest) continue
      const inside = await enter(folder, entry.name)
      try {
        // Shared repositories have the bit in all their folders, and git puts it there itself.
        const keeps = entry.name === '.git' || (isTheirs && (stat.mode & 0o2000) !== 0)
        if (inside) await walk(inside, below, depth + 1, keeps)
      } finally {
        await inside?.close()
      }
    }
  }
  const top = process.platform === 'linux' ? await openDirectory(root) : undefined
  try {
    if (top) await walk(top, '', 0, ((await top.stat()).mode & 0o2000) !== 0)
  } finally {
    await top?.close()
  }
  return { cleared, left }
}

/** Others may pass through a folder that its owner cannot list, and start what is in it. Undefined if it is gone, or nobody's but somebody else's. */
async function enter(folder: DirectoryHandle, name: string): Promise<DirectoryHandle | undefined> {
  const isClosed = (error: unknown) => (error as { code?: string }).code === 'EACCES'
  try {
    return await openIn(folder, name)
  } catch (error) {
    if (!isClosed(error)) throw error
    letIn(folder.at(name), 'read')
  }
  return openIn(folder, name).catch((error: unknown) => {
    if (isClosed(error)) return undefined
    throw error
  })
}
