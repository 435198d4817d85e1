import { randomUUID } from 'node:crypto'
import { lstatSync, realpathSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { type DirectoryHandle, isAbsence, openDirectory, openIn } from './directory-handle.ts'
import { letIn } from './let-in.ts'
import { ownPrefix } from './path-inside.ts'

/** One open folder per level: an agent must not be able to use up our descriptors. What lies deeper is moved up to the top and removed from there. */
const deepest = 100
/** An agent that fills a folder faster than we empty it must not keep us forever. */
const mostRepeats = 100
const mostRepeatsMs = 5_000
const mostMovedUp = 100_000
/** Everybody else gets a turn after this time. */
const sliceMs = 5

/**
 * Removes a tree whose parent folder only Pawl writes. The tree itself may belong to an agent that is still running: no link in it is ever followed, also
 * one that takes the place of a folder midway.
 */
export async function removeTree(path: string): Promise<void> {
  let parent: DirectoryHandle | undefined
  try {
    parent = await openDirectory(realpathSync.native(dirname(path)))
  } catch (error) {
    if (!isAbsence(error)) throw error
  }
  if (!parent) return
  try {
    await removeEntry(parent, basename(path))
  } finally {
    await parent.close()
  }
}

/** Removes all that is in a folder, and leaves the folder. */
export async function emptyTree(path: string): Promise<void> {
  const folder = await openDirectory(realpathSync.native(path))
  if (!folder) return
  try {
    for (const bytes of await readdir(folder.at('.'), { encoding: 'buffer' })) await removeEntry(folder, asText(folder, bytes))
  } finally {
    await folder.close()
  }
}

/** Removes whatever has that name in an open folder, with all that is in it, from open folder to open folder. */
export async function removeEntry(parent: DirectoryHandle, name: string): Promise<void> {
  await remove(parent, name, { repeats: 0, firstRepeat: 0, movedUp: 0, since: performance.now() })
}

interface Progress {
  repeats: number
  firstRepeat: number
  movedUp: number
  since: number
}

async function remove(
  parent: DirectoryHandle,
  name: string,
  progress: Progress,
  depth = 0,
  top?: DirectoryHandle,
): Promise<void> {
  for (;;) {
    await takeTurns(progress)
    const path = parent.at(name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found) return
    const { movedUp } = progress
    if (found.isDirectory()) {
      await emptyFolder(parent, name, progress, depth, top)
      if (isDone(() => rmdirSync(path))) return
    } else if (isDone(() => unlinkSync(path))) return
    if (progress.movedUp === movedUp) repeat(name, progress)
    // A program that was told to end may still be writing for a moment.
    if (progress.repeats > 1) await pause(5)
  }
}

/** Somebody has put something new there, or another kind of entry. */
function repeat(name: string, progress: Progress): void {
  if (progress.repeats++ === 0) progress.firstRepeat = performance.now()
  if (progress.repeats > mostRepeats || performance.now() - progress.firstRepeat > mostRepeatsMs)
    throw Object.assign(new Error(`${name} is filled again and again while it is removed`), { code: 'ENOTEMPTY' })
}

async function emptyFolder(
  parent: DirectoryHandle,
  name: string,
  progress: Progress,
  depth: number,
  top: DirectoryHandle | undefined,
): Promise<void> {
  letIn(parent.at(name), 'write')
  const folder = await openIn(parent, name)
  if (!folder) return
  try {
    for (const bytes of await readdir(folder.at('.'), { encoding: 'buffer' })) {
      const below = asText(folder, bytes)
      if (top && depth >= deepest) moveUp(folder, below, top, progress)
      else await remove(folder, below, progress, depth + 1, top ?? folder)
    }
  } finally {
    await folder.close()
  }
}

/** A name may be any bytes. One that is no text gets another name first, by which it can be called. */
function asText(folder: DirectoryHandle, bytes: Buffer): string {
  const name = bytes.toString()
  if (Buffer.from(name).equals(bytes)) return name
  const renamed = `${ownPrefix}${randomUUID()}`
  isDone(() => renameSync(folder.atBytes(bytes), folder.at(renamed)))
  return renamed
}

function moveUp(folder: DirectoryHandle, name: string, top: DirectoryHandle, progress: Progress): void {
  if (++progress.movedUp > mostMovedUp) throw Object.assign(new Error(`${name} lies too deep`), { code: 'ENAMETOOLONG' })
  // A folder that its owner may not write cannot be given another parent.
  letIn(folder.at(name), 'write')
  isDone(() => renameSync(folder.at(name), top.at(`${ownPrefix}${randomUUID()}`)))
}

/** False if the entry is of another kind by now, or has got entries of its own. */
function isDone(act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'ENOENT') return true
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EISDIR' || code === 'ENOTDIR') return false
    throw error
  }
}

async function takeTurns(progress: Progress): Promise<void> {
  if (performance.now() - progress.since <= sliceMs) return
  await nextTurn()
  progress.since = performance.now()
}
