import { isAlive } from '../../sandbox/process/identity.ts'
import type { Db } from '../../store/database.ts'
import { runnersOf } from '../../store/workers.ts'

/** A worker elsewhere, or before this machine's last start, cannot be looked at. It beats every few seconds, and its clock may differ from ours. */
const silentMs = 60_000

/** Finds tasks that are said to run and whose process is gone. For programs that run nothing themselves: where a daemon is, it gives them back within seconds. */
export async function interruptedTasks(db: Db, tasks: readonly string[], now: Date): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set()
  const gone = (await runnersOf(db, tasks)).filter(({ boot_id: bootId, pid, start_time, seen_at, ended_at }) => {
    if (ended_at !== null) return true
    const alive = isAlive({ bootId, pid, startTime: Number(start_time) })
    return alive === undefined ? now.getTime() - seen_at.getTime() > silentMs : !alive
  })
  return new Set(gone.map(({ task_id }) => task_id))
}
