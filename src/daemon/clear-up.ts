import { agentCodePaths } from '../agents/index.ts'
import { messageOf } from '../domain/error.ts'
import { commonCodePaths } from '../domain/workspace/code-paths.ts'
import { sweepTemporaries } from '../engine/upkeep/left-temporaries.ts'
import { sweepCopies } from '../engine/workspace/left-copies.ts'
import { endsAmong } from '../store/changes.ts'
import type { Ground } from './ground.ts'

/**
 * Brings back and removes what runs and processes left on this machine when they were killed, and nobody goes on with: after each recovery, and every hour, because a task
 * may end later. Never rejects: nobody is kept from working by it.
 */
export async function clearUp({ config: { home }, database: { db }, clock, log }: Ground): Promise<void> {
  try {
    await sweepTemporaries(home)
    const paths = [...commonCodePaths, ...agentCodePaths]
    const swept = await sweepCopies(home, { paths, endsOf: (tasks) => endsAmong(db, tasks), now: clock.now() })
    for (const { task, detail } of swept) log.warn('a copy that a killed run had left was cleared up', { task, detail })
  } catch (error) {
    log.warn('not all that killed runs have left was cleared up', { error: messageOf(error) })
  }
}
