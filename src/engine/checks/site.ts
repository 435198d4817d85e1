import { mkdtemp, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { PawlError, unavailable } from '../../domain/error.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { Db } from '../../store/database.ts'
import { runsOfTask } from '../../store/runs.ts'
import type { TaskRow } from '../../store/tables.ts'
import type { RunServices } from '../base/run-services.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'
import { readyMounts } from '../rights/mounts.ts'
import { wallsOf } from '../rights/walls.ts'
import { gitInside } from '../workspace/git.ts'
import { assertNoHome } from '../workspace/homes.ts'
import { shownAt } from '../workspace/same-place.ts'
import { type TreeHash, treeHash } from '../workspace/tree-hash.ts'
import type { ProveParts, Site } from './prove.ts'

export interface SiteParts {
  readonly db: Db
  readonly home: string
  /** `signal` aborts when Pawl stops. */
  readonly proving: ProveParts & Pick<RunServices, 'wallsFor'> & { readonly signal: AbortSignal }
}

/** The walls in which the work of a task was done, around where it is now. */
export async function siteOf({ db, home, proving }: SiteParts, task: TaskRow, folder: string): Promise<Site> {
  const runs = await translateDbErrors(() => runsOfTask(db, task.id))
  const last = runs.at(-1)
  if (!last || !(await isFolder(folder)))
    throw unavailable(`The work of task ${task.id} is not on this machine: there is no ${folder}.`)
  const isClone = task.workspace_how?.mode === 'clone' && folder !== task.workspace
  const shown = await shownAt(folder, home, isClone ? task.workspace : folder)
  if (!shown)
    throw unavailable(`The work of task ${task.id} is not there any more: ${folder} is a link by now, or lies behind one.`)
  assertNoHome(folder, { allowHome: task.spec.allowHome, called: 'workspace' })
  const profile = rightsOf(task.agent_config)
  const { sandbox, health } = await proving.wallsFor(profile)
  if (last.enforced && !health.enforced)
    throw unavailable(`The work of task ${task.id} was done behind walls, and none can be built here now: ${health.detail}`)
  const user = health.enforced ? health.user : undefined
  const ready = await readyMounts(profile, {
    ...{ ours: [home], workspace: task.workspace, user, enforced: health.enforced },
    codePaths: proving.codePaths,
  })
  return {
    profile,
    sandbox,
    enforced: health.enforced,
    user,
    unit: sandbox.killUnit(`${last.id}-again`, last.fence),
    workspace: { ...shown, mode: isClone ? 'clone' : 'direct' },
    mounts: ready,
    home: join(home, 'sessions', task.session_id),
    records: join(home, 'runs', last.id, 'again'),
  }
}

/** Undefined where nobody can tell: the work may be on another machine. */
export async function hashAt(parts: SiteParts, task: TaskRow, folder: string): Promise<TreeHash | undefined> {
  const site = await siteOf(parts, task, folder).catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'unavailable') return undefined
    throw error
  })
  if (!site) return undefined
  const { home, proving } = parts
  const ownHome = await mkdtemp(join(parts.home, `hash${temporarySuffix()}-`))
  try {
    const { sandbox, unit, user, enforced } = site
    const place = { unit, user, enforced, home: hostPath(ownHome), hidden: [hostPath(home)], mounts: [], masks: [] }
    const { mark } = site.workspace
    const walls = wallsOf(site.profile, { ...place, workspace: { ...inPlace(folder), mark } })
    return await treeHash(folder, { home, git: (args) => gitInside(sandbox, walls, proving.path, args), signal: proving.signal })
  } finally {
    await removeTree(ownHome)
  }
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
