import { isEnded } from '../domain/task/task.ts'
import type { KeptWorkspaceView, QuarantineView } from '../domain/view/workspace.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { listKept, removeKept } from '../engine/workspace/kept.ts'
import { listQuarantine, restoreFromQuarantine } from '../engine/workspace/quarantine.ts'
import type { Db } from '../store/database.ts'
import { findTask } from '../store/tasks.ts'

/** What can be asked about workspaces after their runs. */
export interface WorkspaceVerbs {
  listQuarantine(): Promise<QuarantineView[]>
  /** Puts what a run planted back into its workspace, all of it or one path. What is there now is kept beside the rest. */
  restoreQuarantine(run: string, options: Caller & { path?: string | undefined }): Promise<{ restored: string[] }>
  /** The folders of Pawl's own in which tasks work or left something, with their sizes. */
  listWorkspaces(): Promise<KeptWorkspaceView[]>
  /** Removes one of them for good; refused while its task may go on. */
  removeWorkspace(name: string, caller: Caller): Promise<KeptWorkspaceView>
}

export interface WorkspaceVerbParts {
  readonly db: Db
  readonly home: string
  readonly audit: Audit
}

export function workspaceVerbs({ db, home, audit }: WorkspaceVerbParts): WorkspaceVerbs {
  const hasEnded = async (task: string) => {
    const found = await translateDbErrors(() => findTask(db, task))
    return !found || isEnded(found.state)
  }
  return {
    listQuarantine: () => listQuarantine(home),
    async restoreQuarantine(run, { path, ...caller }) {
      const restored = await restoreFromQuarantine(home, run, path)
      await audit.record(caller, 'quarantine.restore', run, { restored })
      return { restored }
    },
    listWorkspaces: () => listKept(home, hasEnded),
    async removeWorkspace(name, caller) {
      const removed = await removeKept(home, name, hasEnded)
      await audit.record(caller, 'workspace.remove', name)
      return removed
    },
  }
}
