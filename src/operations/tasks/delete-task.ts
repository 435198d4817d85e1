import { join } from 'node:path'
import { localUser } from '../../domain/auth/role.ts'
import { conflict, denied } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { Audit, Caller } from '../../engine/auth/audit.ts'
import { mayAll } from '../../engine/auth/may-ask.ts'
import { removeRecordingFiles } from '../../engine/recordings/folder.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Db, Tx } from '../../store/database.ts'
import { deleteTasks, forgetRemovedRuns, lockSubtree, removedRuns } from '../../store/task-removal.ts'

/** Deletes a task and everything below it, if all of it has ended. Its session and its workspace stay: others may use them. */
export async function deleteTree(
  tx: Tx,
  id: string,
  { caller, audit }: { caller: Caller; audit: Audit },
): Promise<{ tasks: string[]; runs: string[] }> {
  const tree = await lockSubtree(tx, id)
  const open = tree.find(({ state }) => !isEnded(state))
  if (open) {
    const which = open.id === id ? `Task ${id}` : `Its subtask ${open.id}`
    throw conflict(`${which} is ${open.state}; only what has ended can be deleted. Stop it first: pawl cancel ${open.id}`)
  }
  // What is deleted cannot be looked into any more, so nobody takes away what others have had done.
  const other = mayAll(caller.standing) ? undefined : tree.find(({ user_name }) => user_name !== (caller.user ?? localUser))
  if (other)
    throw denied(`Task ${other.id} is a task of the user "${other.user_name}"; only they themselves or an admin may delete it.`)
  const tasks = tree.map((task) => task.id)
  const runs = await deleteTasks(tx, tasks)
  if (tasks.length > 0) await insertAudit(tx, audit.entry(caller, 'task.delete', id, { tasks: tasks.length }))
  return { tasks, runs }
}

/** Removes the files of runs that are deleted for certain. */
export async function removeRunFiles(db: Db, home: string, runs: readonly string[]): Promise<void> {
  for (const run of runs) await removeTree(join(home, 'runs', run))
  removeRecordingFiles(home, runs)
  if (runs.length > 0) await forgetRemovedRuns(db, runs)
}

/** What a crash left over of deleted runs is removed at the next start. */
export const sweepRemovedRuns = async (db: Db, home: string): Promise<void> => removeRunFiles(db, home, await removedRuns(db))
