import { createWriteStream } from 'node:fs'
import { chown, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { hostPath } from '../../domain/base/path.ts'
import { defaultProfile, resolveProfile, rightsOf } from '../../domain/profile/resolve.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { Sandbox, SandboxHealth } from '../../sandbox/port.ts'
import type { Db } from '../../store/database.ts'
import { findTask } from '../../store/tasks.ts'
import { wallsOf } from '../rights/walls.ts'
import { cloneOf } from '../workspace/clone.ts'
import { differenceInside } from '../workspace/git.ts'
import { shownAt } from '../workspace/same-place.ts'

/** Where the work of a task is, for somebody who goes on with it. */
export interface Work {
  /** The folder with the work in it: the clone, if the task worked in one. */
  readonly workspace: string
  /** Undefined where there is none, or its name is not one that can be used safely. */
  readonly branch?: string | undefined
  /** A file with what was changed; undefined if it could not be made, and then `why`. */
  readonly diff?: string | undefined
  readonly why?: string | undefined
}

export interface ChangesParts {
  readonly db: Db
  readonly home: string
  readonly path: string
  readonly wallsFor: () => Promise<{ sandbox: Sandbox; health: SandboxHealth }>
}

const mostBytes = 5 * 1024 * 1024
/** Such a name is taken for nothing else by any program that is given it. */
const plainBranch = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/

/**
 * Looks at what a task has changed since its last commit; in a clone, since it was made. Git reads the tree inside walls, as everywhere: the tree may be hostile.
 */
export function changesOf(parts: ChangesParts): (task: string, diffFile: string, signal: AbortSignal) => Promise<Work> {
  return async (id, diffFile, signal) => {
    const task = await findTask(parts.db, id)
    if (!task) return { workspace: '', why: 'The task was deleted.' }
    const clone = task.workspace_how?.mode === 'clone' ? cloneOf(join(parts.home, 'workspaces'), id) : undefined
    const workspace = clone?.path ?? task.workspace
    const shown = await shownAt(workspace, parts.home, task.workspace)
    if (!shown) return { workspace, why: 'The workspace is a link by now, or lies behind one.' }
    const isRepository = await stat(join(workspace, '.git')).then(
      () => true,
      () => false,
    )
    if (!isRepository) return { workspace, why: 'The workspace is no git repository.' }
    const scratch = `${diffFile}.git`
    await removeTree(scratch)
    await mkdir(scratch, { mode: 0o700 })
    try {
      const { sandbox, health } = await parts.wallsFor()
      // Git would have the programs run that a hostile tree names.
      if (rightsOf(task.agent_config).walls && !health.enforced)
        return { workspace, why: `Git cannot look at the workspace safely: no walls can be built here. ${health.detail}` }
      const user = health.enforced ? health.user : undefined
      if (user) await chown(scratch, user.uid, user.gid)
      const walls = wallsOf(resolveProfile(defaultProfile, {}), {
        unit: sandbox.killUnit(id, task.fence),
        workspace: shown,
        home: hostPath(scratch),
        hidden: [hostPath(parts.home)],
        user,
        enforced: health.enforced,
        mounts: [],
        masks: [],
      })
      const base = clone ? 'refs/remotes/origin/HEAD' : 'HEAD'
      const file = createWriteStream(diffFile, { mode: 0o600 })
      const found = await differenceInside(sandbox, walls, parts.path, { base, to: file, mostBytes, signal })
      await finished(file.end())
      const branch = clone?.branch ?? found.branch
      const named = branch !== undefined && plainBranch.test(branch) ? { branch } : {}
      return { workspace, ...named, ...(found.why === undefined ? { diff: diffFile } : { why: found.why }) }
    } finally {
      await removeTree(scratch)
    }
  }
}
