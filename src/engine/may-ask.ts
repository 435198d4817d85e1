import { denied } from '../domain/error.ts'
import type { Standing } from '../domain/role.ts'
import type { NewTask } from '../domain/view.ts'

/**
 * What of a task only some may choose. A whole agent names commands, variables and key files of this machine, so it is worth as much as the settings file; a hook stands
 * in somebody else's system and only says what is to be done.
 */
export function assertMayAsk(standing: Standing | undefined, task: Partial<NewTask>): void {
  if (standing === undefined || standing === 'admin') return
  const kept: readonly (keyof NewTask)[] =
    standing === 'hook' ? ['agentConfig', 'profile', 'extraArgs', 'workspace', 'attended'] : ['agentConfig']
  const given = kept.filter((key) => task[key] !== undefined)
  if (given.length > 0)
    throw denied(
      `A token of ${standing === 'hook' ? 'kind hook' : `the role ${standing}`} may not choose ${given.map((key) => `"${key}"`).join(', ')} of a task; leave it out and name an agent of the daemon's settings.`,
    )
}
