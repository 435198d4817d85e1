import type { Adapter, AgentHealth } from '../../../agents/port.ts'
import type { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import { PawlError } from '../../../domain/error.ts'
import { toolAccess } from '../../../domain/profile/access.ts'
import { rightsOf } from '../../../domain/profile/resolve.ts'
import type { NewTask } from '../../../domain/view/view.ts'

type Wishes = Pick<NewTask, 'allowedTools' | 'disallowedTools' | 'contextDirs' | 'appendSystemPrompt' | 'role' | 'extraArgs'>

export const hasWishes = (task: Wishes) =>
  [task.allowedTools, task.disallowedTools, task.contextDirs, task.extraArgs].some((list) => list?.length) ||
  task.appendSystemPrompt !== undefined ||
  task.role !== undefined

/**
 * Refuses by name what the agent's program cannot be held to, before anything is made: the adapter puts a command line together as it will for the run, and nothing is
 * started.
 */
export function assertAble(
  adapter: Adapter,
  agent: ResolvedAgent,
  task: Wishes,
  { workspace, health }: { workspace: string; health: AgentHealth },
): void {
  const unable = (why: string) => new PawlError('unsupported', `Agent "${agent.name}" ${why}`)
  const lists = (['allowedTools', 'disallowedTools'] as const).filter((list) => task[list]?.length)
  if (lists.length > 0 && !adapter.ownTools)
    throw unable(`has no tools that Pawl knows of, so none can be allowed or taken away; leave ${lists.join(' and ')} out.`)
  if (task.appendSystemPrompt !== undefined && !adapter.can.systemPrompt)
    throw unable('takes no system prompt; leave appendSystemPrompt out, and say it in the prompt.')
  if (task.role !== undefined && !adapter.can.systemPrompt)
    throw unable('takes no system prompt, so it has no role; leave the role out, and say it in the prompt.')
  const profile = rightsOf(agent)
  adapter.command({
    options: adapter.options.parse(agent.options),
    model: agent.model,
    systemPrompt: task.appendSystemPrompt,
    prompt: '',
    workspace,
    home: '/home/agent',
    walled: profile.walls,
    program: health.program,
    version: health.version,
    native: profile.tools.native,
    disabledTools: profile.tools.disabled,
    toolAccess: adapter.ownTools && toolAccess(profile, adapter.ownTools),
    allowedTools: task.allowedTools,
    disallowedTools: task.disallowedTools,
    contextDirs: task.contextDirs,
    extraArgs: task.extraArgs ?? [],
  })
}
