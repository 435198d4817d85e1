import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { isAbsence } from '../../files/directory-handle.ts'
import { takingTurns } from './turns.ts'

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

  const clear = (at: string, path: string): void => {
    const fd = openSync(at, byPath | constants.O_NOFOLLOW)
    try {
      const { mode } = fstatSync(fd)
      chmodSync(`/proc/self/fd/${fd}`, mode & 0o777)
    } finally {
      closeSync(fd)
    }
    cleared.push(path)
  }
  /** `inherits`: folders made in it get the set-group-ID bit from it. */
  const walk = async (at: string, path: string, { depth, inherits }: { depth: number; inherits: boolean }): Promise<void> => {
    let fd: number
    try {
      fd = openSync(at, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    } catch (error) {
      if (isAbsence(error) || (error as { code?: string }).code === 'EACCES') return
      throw error
    }
    try {
      const here = `/proc/self/fd/${fd}`
      for (const entry of readdirSync(`${here}/.`, { withFileTypes: true })) {
        if (entry.isSymbolicLink() || entry.name.includes('\ufffd')) continue
        await turn()
        const below = join(path, entry.name)
        const stat = lstatSync(`${here}/${entry.name}`, { throwIfNoEntry: false })
        if (!stat || stat.isSymbolicLink()) continue
        const isFolder = stat.isDirectory()
        if (!isFolder && !stat.isFile()) {
          if (isNew(stat)) left.push(below)
          continue
        }
        const isHis = isFolder && (before.has(below) || (inherits && (stat.mode & bits) === 0o2000))
        if ((stat.mode & bits) !== 0 && isNew(stat) && !isHis) clear(`${here}/${entry.name}`, below)
        // Shared repositories have the bit in all their folders, and git puts it there itself.
        const keeps = entry.name === '.git' || (isHis && (stat.mode & 0o2000) !== 0)
        if (isFolder && depth < deepest) await walk(`${here}/${entry.name}`, below, { depth: depth + 1, inherits: keeps })
      }
    } catch (error) {
      if (!isAbsence(error)) throw error
    } finally {
      closeSync(fd)
    }
  }
  if (process.platform === 'linux') {
    const inherits = (lstatSync(root, { throwIfNoEntry: false })?.mode ?? 0) & 0o2000
    await walk(root, '', { depth: 0, inherits: inherits !== 0 })
  }
  return { cleared, left }
}
