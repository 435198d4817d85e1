import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Standing } from '../../../domain/auth/role.ts'
import { hostPath, isBelow, isInside } from '../../../domain/base/path.ts'
import { invalid } from '../../../domain/error.ts'
import type { WorkspaceHow } from '../../../domain/task/task.ts'
import type { NewTask } from '../../../domain/view/view.ts'
import { permittedFolder } from '../../../engine/auth/may-ask.ts'
import { assertNoHome } from '../../../engine/workspace/homes.ts'
import { assertUsable } from '../../../engine/workspace/workspace.ts'
import type { SessionRow } from '../../../store/tables.ts'
import type { TaskCreatorParts } from './parts.ts'

type PlaceParts = Pick<TaskCreatorParts, 'home' | 'sharedWorkspaces'>

/** Where the task says, else where its session works, else in a directory of its own, which the first run makes. */
export async function chooseWorkspace(
  parts: PlaceParts,
  task: string,
  input: NewTask,
  { session, standing }: { session: SessionRow | undefined; standing: Standing | undefined },
): Promise<{ path: string; isOwn: boolean }> {
  const own = join(parts.home, 'workspaces')
  const wanted = input.workspace ?? session?.workspace ?? join(own, task)
  const isOwn = input.workspace === undefined && isBelow(hostPath(own), hostPath(wanted))
  const by = { standing, allowHome: input.allowHome }
  return { path: isOwn ? wanted : await usableWorkspace(wanted, by, parts.sharedWorkspaces), isOwn }
}

export async function usableWorkspace(
  path: string,
  { standing, allowHome }: { standing: Standing | undefined; allowHome?: boolean | undefined },
  shared: readonly string[],
): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(`The workspace must be an absolute path, not "${path}".`)
  // A directory and a link to it are one workspace, in which one run works at a time.
  const real = await permittedFolder(standing, path, shared)
  await assertUsable(real, { allowHome })
  return real
}

/** A folder that is the task's own needs neither a copy nor a clone. */
export function howToWork({ workspaceMode: mode, bringBack }: NewTask, isOwn: boolean): WorkspaceHow | undefined {
  if (bringBack !== undefined && mode !== 'clone')
    throw invalid('Only the work of a clone can be brought back as a branch; choose the workspace mode "clone" as well.')
  if (mode === undefined) return undefined
  if (isOwn && mode !== 'direct') throw invalid(`Name the workspace that the agent is to work on in a ${mode} of.`)
  return { mode, ...(bringBack === undefined ? {} : { bringBack }) }
}

/** The folders that the task may read as well, links followed; what is not absolute is seen from the workspace. Whoever may not work in a folder may not read it either. */
export async function contextFolders(
  parts: PlaceParts,
  folders: readonly string[],
  {
    workspace,
    standing,
    allowHome,
  }: { workspace: { path: string; isOwn: boolean }; standing: Standing | undefined; allowHome?: boolean | undefined },
): Promise<string[]> {
  const home = hostPath(await realpath(parts.home).catch(() => parts.home))
  const top = hostPath(workspace.path)
  return Promise.all(
    folders.map(async (named) => {
      if (named.includes('\0') || (workspace.isOwn && !isAbsolute(named)))
        throw invalid(`A context folder must be an absolute path where the task names no workspace, not "${named}".`)
      const folder = resolve(workspace.path, named)
      const real = await permittedFolder(standing, folder, parts.sharedWorkspaces)
      if (!(await stat(real).catch(() => undefined))?.isDirectory())
        throw invalid(`The context folder ${folder} is not there, or is no folder; make it first, or leave it out.`)
      if (isInside(home, real) || isInside(real, home))
        throw invalid(`The context folder ${folder} would show Pawl's own files to the agent; name another.`)
      if (isBelow(real, top))
        throw invalid(`The context folder ${folder} holds the workspace itself; name the folders beside it.`)
      assertNoHome(real, { allowHome, called: 'context folder' })
      return real
    }),
  )
}
