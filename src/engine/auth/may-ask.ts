import { realpath } from 'node:fs/promises'
import type { Standing } from '../../domain/auth/role.ts'
import { type HostPath, hostPath, isInside } from '../../domain/base/path.ts'
import { denied } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { widerIn } from '../../domain/profile/width.ts'
import type { NewTask } from '../../domain/view/view.ts'

/**
 * What of a task only admins may choose. A whole agent names commands, variables and key files of this machine, so it is worth as much as the settings file; arguments
 * can take a program's own permissions away; who says that somebody watches may run without walls; and a home folder is its owner's to open. A hook stands in somebody else's system and only says what is
 * to be done: it runs no commands, and answers no questions, by saying beforehand what the answer is.
 */
const kept = ['agentConfig', 'extraArgs', 'attended', 'allowHome'] as const satisfies (keyof NewTask)[]
const keptFromHooks = [
  ...kept,
  'profile',
  'workspace',
  'contextDirs',
  'writableDirs',
  'mounts',
  'parent',
  'checks',
  'questions',
] as const satisfies (keyof NewTask)[]

export function assertMayAsk(standing: Standing | undefined, task: Partial<NewTask>): void {
  if (mayAll(standing)) return
  const given = (standing === 'hook' ? keptFromHooks : kept).filter((key) => task[key] !== undefined && task[key] !== false)
  if (given.length > 0)
    throw denied(
      `A token of ${nameOf(standing)} may not choose ${given.map((key) => `"${key}"`).join(', ')} of a task; leave it out and name an agent of the daemon's settings.`,
    )
}

/** Whoever may not change the settings may choose a narrower profile than the agent's, never a wider one. */
export function assertNotWider(standing: Standing | undefined, chosen: Profile, own: Profile): void {
  const wider = mayAll(standing) ? [] : widerIn(chosen, own)
  if (wider.length > 0)
    throw denied(
      `A token of ${nameOf(standing)} may not choose the profile "${chosen.name}": it allows more than the agent's own, "${own.name}" (${wider.join(', ')}). Leave it out, or name an agent that has it.`,
    )
}

/** Everybody may spend less than the agent's settings allow; more may be asked for only by those who answer for it. */
export function assertMayRaise(standing: Standing | undefined, raised: readonly string[]): void {
  if (raised.length === 0 || mayAll(standing) || standing === 'operator') return
  throw denied(
    `A token of ${nameOf(standing)} may not raise ${raised.map((cap) => `budget.${cap}`).join(', ')} beyond what the agent's settings say; lower it or leave it out.`,
  )
}

/**
 * Where a folder really lies that somebody names, links followed; the path itself for one that is not there. Folders of this machine are the admins' to name, and everybody's in and
 * below those that the settings share. To everybody else the same is said of a folder that is not there. Nobody may follow the links once more: an agent that works there could have
 * put in others since.
 */
export async function permittedFolder(
  standing: Standing | undefined,
  path: string,
  shared: readonly string[],
): Promise<HostPath> {
  const [wanted, ...folders] = await Promise.all([path, ...shared].map((each) => realpath(each).then(hostPath, () => undefined)))
  if (mayAll(standing)) return wanted ?? hostPath(path)
  if (wanted === undefined || !folders.some((folder) => folder !== undefined && isInside(folder, wanted)))
    throw denied(
      `A token of ${nameOf(standing)} may not have an agent work in ${path}: it is none of the folders that server.workspaces of the daemon's settings names, nor below one. Leave the workspace out for a folder of the task's own.`,
    )
  return wanted
}

/** The owner of the home, where nobody is named. */
export const mayAll = (standing: Standing | undefined) => standing === undefined || standing === 'admin'
export const nameOf = (standing: Standing | undefined) => (standing === 'hook' ? 'kind hook' : `the role ${standing}`)
