import { existsSync, realpathSync, statfsSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { isAbsence, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { walkTree } from '../../sandbox/files/walk-tree.ts'

/** How often the file system is asked for its free space, which costs next to nothing. */
const lookMs = 1_000
/** Files cost the disk something even if they are empty. */
const mostFiles = 1_000_000
/** Others who free space hide what this run takes, so its folders are walked now and then whatever the file system says, for at most this part of the time. */
const walkEveryMs = 10_000
const walkShare = 0.01
/** A tree that takes longer to walk than this is looked through in part; what was counted by then may be enough. */
const walkMs = 10_000

export interface DiskWatchOptions {
  readonly folders: readonly string[]
  readonly mostBytes: number
  readonly mostFiles?: number | undefined
  readonly clock: Clock
  onLimit(message: string): void
}

/**
 * Ends a run that fills the disk. No quota can be set for a directory without the help of the machine's owner, so this looks: the folders are walked, and what was
 * written since the start is counted, as soon as the free space of the file systems has fallen by what a run may write, and now and then anyway.
 */
export function watchDisk({ folders, mostBytes, clock, onLimit, ...options }: DiskWatchOptions): () => void {
  const filesLimit = options.mostFiles ?? mostFiles
  const startedAtMs = clock.now()
  let isOver = false
  let cancel: (() => void) | undefined
  let atStart: readonly (Room | undefined)[] | undefined
  let nextWalkAt = clock.monotonic() + walkEveryMs

  async function look(): Promise<void> {
    const rooms = folders.map(roomOf)
    atStart ??= rooms
    const mayBeOver = rooms.some((room, i) => {
      const before = atStart?.[i]
      return room && before && (before.bytes - room.bytes > mostBytes || before.files - room.files > filesLimit)
    })
    const begunAt = clock.monotonic()
    if ((!mayBeOver && begunAt < nextWalkAt) || isOver) return
    const written = await writtenSince(folders, startedAtMs, clock)
    const endedAt = clock.monotonic()
    nextWalkAt = endedAt + Math.max(walkEveryMs, (endedAt - begunAt) / walkShare)
    const isMuch = written.bytes > mostBytes || written.files > filesLimit
    // What lies so deep that nobody could see it may be what the disk has lost.
    if (isOver || !(isMuch || (written.isPartial && mayBeOver))) return
    isOver = true
    if (!isMuch)
      return onLimit(
        'The agent made folders too deep to be looked into, and the disk has lost more free space than limits.disk of its profile allows it to write.',
      )
    const what = written.bytes > mostBytes ? `${Math.round(written.bytes / 1024 / 1024)} MB` : `${written.files} files`
    onLimit(`The agent wrote ${what} to the disk, more than limits.disk of its profile allows.`)
  }
  function again(): void {
    if (isOver) return
    // One that cannot look now looks again: a folder may be gone for a moment.
    look().then(schedule, schedule)
  }
  function schedule(): void {
    if (!isOver) cancel = clock.after(lookMs, again)
  }
  again()
  return () => {
    isOver = true
    cancel?.()
  }
}

interface Room {
  readonly bytes: number
  readonly files: number
}

/** Undefined of a folder that is not there: nothing is written to it. */
function roomOf(folder: string): Room | undefined {
  try {
    if (!existsSync(folder)) return undefined
    const { bavail, bsize, ffree } = statfsSync(folder)
    return { bytes: bavail * bsize, files: ffree }
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** What the files that were changed since then take on the disk, links not followed. A sparse file takes what it holds, not what it claims. */
async function writtenSince(
  folders: readonly string[],
  startedAtMs: number,
  clock: Clock,
): Promise<Room & { readonly isPartial: boolean }> {
  const deadline = clock.monotonic() + walkMs
  let [bytes, files, isPartial] = [0, 0, false]
  for (const path of folders) {
    // The agent removes folders meanwhile, or swaps them for links: neither counts.
    const folder = await openDirectory(realOf(path)).catch(() => undefined)
    if (!folder) continue
    try {
      const walked = await walkTree(folder, ({ stats }) => {
        if (clock.monotonic() > deadline) return 'end'
        if (stats.ctimeMs >= startedAtMs) {
          files++
          bytes += stats.blocks * 512
        }
        return 'in'
      })
      isPartial ||= walked.isPartial
    } finally {
      await folder.close()
    }
  }
  return { bytes, files, isPartial }
}

/** The folders themselves are named by us; only what is in them belongs to the agent. */
function realOf(folder: string): string {
  try {
    return realpathSync.native(folder)
  } catch {
    return folder
  }
}
