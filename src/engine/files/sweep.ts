import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import { uploadKeptMs } from '../../domain/files/limits.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { Db } from '../../store/database.ts'
import { tasksThere } from '../../store/files.ts'
import type { Journal } from '../journal/journal.ts'
import type { Blobs } from './blobs.ts'

export interface SweepParts {
  readonly db: Db
  readonly journal: Journal
  readonly clock: Clock
  readonly home: string
  readonly blobs: Blobs
}

/** Forgets what was handed in and is in no task after a day, and what the files of deleted tasks held. */
export async function sweepFiles({ db, journal, clock, home, blobs }: SweepParts): Promise<void> {
  await journal.transact('files.sweep', (tx) => blobs.sweep(tx, new Date(clock.now() - uploadKeptMs)))
  await removeLaid(db, home)
}

/** Where the files of a session's tasks lie for its agents. */
export const laidFolder = (home: string, session: string) => join(home, 'attachments', session)

/** What was laid out for tasks that are deleted. */
async function removeLaid(db: Db, home: string): Promise<void> {
  for (const session of namesIn(join(home, 'attachments'))) {
    const folder = laidFolder(home, session)
    const tasks = namesIn(folder)
    const there = await tasksThere(db, tasks)
    for (const task of tasks) if (!there.has(task)) await removeTree(join(folder, task))
    if (there.size === 0) await removeTree(folder)
  }
}

const hourMs = 60 * 60_000

/** Sweeps at the start and every hour. */
export function createSweeper(parts: SweepParts & { log: Log; alongside?: () => Promise<void> }) {
  let isOver = false
  let cancel: (() => void) | undefined
  let underWay: Promise<void> = Promise.resolve()
  const sweep = async (atStart: boolean) => {
    try {
      if (atStart) await parts.journal.transact('files.sweep', (tx) => parts.blobs.sweepFiles(tx))
      await sweepFiles(parts)
      // Recovery has done that at the start.
      if (!atStart) await parts.alongside?.()
    } catch (error) {
      parts.log.warn('files that nobody needs were not swept', { error: messageOf(error) })
    }
    if (!isOver) cancel = parts.clock.after(hourMs, () => begin(false))
  }
  const begin = (atStart: boolean) => {
    underWay = sweep(atStart)
  }
  return {
    start: () => begin(true),
    async stop() {
      isOver = true
      cancel?.()
      await underWay
      cancel?.()
    },
  }
}
