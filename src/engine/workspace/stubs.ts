import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type DirectoryHandle, isAbsence, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { isAlive, processIdentity } from '../../sandbox/process/identity.ts'

/**
 * Makes the empty folders that are covered while a run lasts. What somebody made meanwhile is theirs. They belong to whom their parent belongs. Those that were put
 * aside in `parked` are brought back: for a program that waits they are covered as before.
 */
export async function makeStubs(root: string, stubs: readonly string[], parked?: string): Promise<void> {
  const aside = parked === undefined ? undefined : await openDirectory(parked)
  try {
    await makeIn(root, stubs, aside)
  } finally {
    await aside?.close()
  }
  if (aside && parked !== undefined) await dropParked(parked)
}

async function makeIn(root: string, stubs: readonly string[], aside: DirectoryHandle | undefined): Promise<void> {
  await eachIn(root, stubs, async (folder, name, path) => {
    // A folder moves over an empty one without a word, and that would be somebody else's.
    const isThere = aside && lstatSync(folder.at(name), { throwIfNoEntry: false })
    if (aside && !isThere && move(aside, markOf(path), folder, name)) return
    try {
      mkdirSync(folder.at(name), { mode: 0o755 })
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') return
      throw error
    }
    if (process.getuid?.() !== 0) return
    const owner = await folder.stat()
    const made = await openIn(folder, name)
    await made?.chown(owner.uid, owner.gid)
    await made?.close()
  })
}

/**
 * Takes them away again, if they are still empty: whatever has got into one is looked at like anything else. Mostly that is a matter of microseconds, less than it takes to
 * ask another thread. Where the file system takes its time for each, other threads do many at once.
 */
export async function removeStubs(root: string, stubs: readonly string[]): Promise<void> {
  const since = performance.now()
  await eachIn(root, stubs, async (folder, name) => {
    try {
      if (performance.now() - since < waitMs) rmdirSync(folder.at(name))
      else await rmdir(folder.at(name))
    } catch (error) {
      if (!isAbsence(error) && (error as { code?: string }).code !== 'ENOTEMPTY') throw error
    }
  })
}

const waitMs = 2

/**
 * Puts them aside, in a folder of ours, instead: a mount goes with the folder that it lies on, and is gone with it when that is removed. True if every one of them
 * can be brought back. What is not empty stays, as ever.
 */
export async function parkStubs(root: string, stubs: readonly string[], parked: string): Promise<boolean> {
  mkdirSync(parked, { recursive: true, mode: 0o700 })
  const aside = await openDirectory(parked)
  if (!aside) return false
  try {
    let isWhole = true
    await eachIn(root, stubs, async (folder, name, path) => {
      if (!(await park(folder, name, aside, markOf(path)))) isWhole = false
    })
    return isWhole
  } finally {
    await aside.close()
  }
}

async function park(folder: DirectoryHandle, name: string, aside: DirectoryHandle, mark: string): Promise<boolean> {
  if (!(await isEmptyIn(folder, name)) || !move(folder, name, aside, mark)) return false
  if (await isEmptyIn(aside, mark)) return true
  // In that moment somebody has put something into it, or something else in its place.
  move(aside, mark, folder, name)
  return false
}

async function isEmptyIn(folder: DirectoryHandle, name: string): Promise<boolean> {
  const stub = await openIn(folder, name)
  try {
    return stub !== undefined && readdirSync(stub.at('.')).length === 0
  } finally {
    await stub?.close()
  }
}

/** False where it cannot be done: from one file system to another, or because one of them is gone. */
function move(from: DirectoryHandle, name: string, to: DirectoryHandle, newName: string): boolean {
  try {
    renameSync(from.at(name), to.at(newName))
    return true
  } catch {
    return false
  }
}

const markOf = (path: string) => createHash('sha256').update(path).digest('hex')

/** Removes what was put aside, when nobody needs it any more. What somebody has put into one of them stays there. */
export async function dropParked(parked: string): Promise<void> {
  await removeStubs(parked, namesIn(parked))
  await removeStubs(dirname(parked), [basename(parked)])
}

/** Where those of a session are put aside, for a program of this process. */
export function parkedFolder(home: string, session: string): string {
  const { pid, startTime } = processIdentity()
  return join(home, 'parked', `${session}.${pid}.${startTime}`)
}

/** Removes what is left of processes that are gone. */
export async function sweepParked(home: string): Promise<void> {
  const { bootId } = processIdentity()
  for (const name of namesIn(join(home, 'parked'))) {
    const [pid = 0, startTime = 0] = name.split('.').slice(-2).map(Number)
    if (isAlive({ bootId, pid, startTime }) !== true) await dropParked(join(home, 'parked', name))
  }
}

async function eachIn(
  root: string,
  stubs: readonly string[],
  act: (folder: DirectoryHandle, name: string, path: string) => Promise<void>,
): Promise<void> {
  for (const [parent, inIt] of Map.groupBy(stubs, (path) => dirname(path))) {
    const folder = await openDirectory(join(root, parent))
    if (!folder) continue
    try {
      // All of them have ended before the folder is closed: its number will be another's.
      const done = await Promise.allSettled(inIt.map((path) => act(folder, basename(path), path)))
      for (const one of done) if (one.status === 'rejected') throw one.reason
    } finally {
      await folder.close()
    }
  }
}
