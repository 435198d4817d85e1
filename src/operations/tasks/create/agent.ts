import type { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import { chosenServers } from '../../../domain/agent/mcp-server.ts'
import type { Standing } from '../../../domain/auth/role.ts'
import { didYouMean } from '../../../domain/base/nearest.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { raisedIn, withCaps, withinBudget } from '../../../domain/money/caps.ts'
import type { Profile } from '../../../domain/profile/profile.ts'
import { rightsNamed, rightsOf } from '../../../domain/profile/resolve.ts'
import { type Restrictions, restricted } from '../../../domain/profile/restrict.ts'
import { widerIn } from '../../../domain/profile/width.ts'
import type { NewTask } from '../../../domain/view/view.ts'
import { assertMayRaise, assertNotWider } from '../../../engine/auth/may-ask.ts'
import type { SessionRow } from '../../../store/tables.ts'
import type { TaskCreatorParts } from './parts.ts'

/** The agent of a task with everything decided, and those that may go on for it. */
export interface AgentsOfTask {
  readonly agent: ResolvedAgent
  readonly failover: readonly ResolvedAgent[]
  /** The profile of the agent, before the task takes anything away. */
  readonly profile: Profile
}

export async function agentsOfTask(
  parts: TaskCreatorParts,
  task: NewTask,
  {
    session,
    standing,
    ...folders
  }: { session: SessionRow | undefined; standing: Standing | undefined } & Pick<
    Restrictions,
    'contextDirs' | 'writableDirs' | 'mounts'
  >,
): Promise<AgentsOfTask> {
  const named = task.agentConfig ?? agentNamed(parts.agents, task.agent ?? session?.agent ?? (await parts.defaultAgent()))
  if (session && session.adapter !== named.adapter)
    throw invalid(`Session ${session.id} belongs to agent "${session.agent}"; use that agent.`)
  const adapter = parts.adapterNamed(named.adapter, named.options)
  assertOptions(parts, named)
  if (task.model !== undefined && !adapter.can.model)
    throw new PawlError('unsupported', `Agent "${named.name}" takes no model; leave --model out.`)
  const chosen = task.profile === undefined ? undefined : chosenProfile(parts, task.profile)
  if (chosen) assertNotWider(standing, rightsOf(chosen), rightsOf(named))
  assertMayRaise(standing, raisedIn(task.budget, named.budget))
  const agent = { ...named, ...(task.model === undefined ? {} : { model: task.model }), ...chosen }
  assertSameWalls(parts, task, { profile: rightsOf(agent), standing })
  const held = (one: ResolvedAgent) =>
    withCaps(withRestrictions(withServers(one, task), { disallowedTools: task.disallowedTools, ...folders }), task)
  assertServers(agent, task)
  const own = held(agent)
  return {
    agent: own,
    failover: failoverOf(parts, task, { agent, chosen, standing }).map((one) => withinBudget(held(one), own.budget)),
    profile: rightsOf(agent),
  }
}

/** Subtasks have the profile of their task, whoever does them: another agent, with its own login and variables, is not to be had by this with wider rights than its own. */
function assertSameWalls(
  parts: TaskCreatorParts,
  { subtasks }: NewTask,
  { profile, standing }: { profile: Profile; standing: Standing | undefined },
): void {
  for (const name of subtasks?.agents ?? []) assertNotWider(standing, profile, rightsOf(agentNamed(parts.agents, name)))
}

/** The profile that was asked for by name, instead of the agent's own. */
const chosenProfile = ({ profiles, ground }: TaskCreatorParts, name: string): Pick<ResolvedAgent, 'profile' | 'rights'> => ({
  profile: name,
  rights: rightsNamed(name, profiles, ground),
})

const withRestrictions = (agent: ResolvedAgent, restrictions: Restrictions): ResolvedAgent =>
  restrictions.disallowedTools?.length || restrictions.contextDirs?.length || restrictions.mounts?.length
    ? { ...agent, rights: restricted(rightsOf(agent), restrictions) }
    : agent

/** A task may do with fewer servers of tools than its agent has, and never with more. */
const withServers = ({ mcpServers, ...agent }: ResolvedAgent, { mcpServers: chosen }: NewTask): ResolvedAgent => ({
  ...agent,
  ...(mcpServers ? { mcpServers: chosenServers(mcpServers, chosen) } : {}),
})

function assertServers({ name, mcpServers = {} }: ResolvedAgent, { mcpServers: chosen = [] }: NewTask): void {
  const unknown = chosen.find((server) => !Object.hasOwn(mcpServers, server))
  if (unknown === undefined) return
  const known = Object.keys(mcpServers)
  const there = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  throw invalid(`Agent "${name}" is not offered a server of tools "${unknown}" (${there})${didYouMean(unknown, known)}`)
}

/** Whoever goes on for another is told the conversation from the journal, and may do no more than the one before. */
function failoverOf(
  parts: TaskCreatorParts,
  { failover = [], budget }: NewTask,
  {
    agent,
    chosen,
    standing,
  }: { agent: ResolvedAgent; chosen: Pick<ResolvedAgent, 'profile' | 'rights'> | undefined; standing: Standing | undefined },
): ResolvedAgent[] {
  const own = parts.adapterNamed(agent.adapter, agent.options)
  if (failover.length > 0 && !own.sessions)
    throw new PawlError(
      'unsupported',
      `Agent "${agent.name}" keeps no conversation that another could go on with; leave failover out.`,
    )
  return failover.map((name, index) => {
    if (name === agent.name || failover.indexOf(name) !== index)
      throw invalid(`Agent "${name}" is named twice for this task; each agent goes on once.`)
    const known = agentNamed(parts.agents, name)
    if (chosen) assertNotWider(standing, rightsOf(chosen), rightsOf(known))
    assertMayRaise(standing, raisedIn(budget, known.budget))
    const next = { ...known, ...chosen }
    assertOptions(parts, next)
    if (!parts.adapterNamed(next.adapter, next.options).sessions?.rebuild)
      throw new PawlError(
        'unsupported',
        `Agent "${name}" cannot go on with a conversation that another began; leave it out of failover.`,
      )
    const wider = widerIn(rightsOf(next), rightsOf(agent))
    if (wider.length > 0)
      throw invalid(
        `Agent "${name}" cannot go on for "${agent.name}": its profile "${next.profile}" allows more than "${agent.profile}" (${wider.join(', ')}). Name a profile for the task, or another agent.`,
      )
    return next
  })
}

function assertOptions(parts: TaskCreatorParts, agent: ResolvedAgent): void {
  const options = parts.adapterNamed(agent.adapter).options.safeParse(agent.options)
  if (!options.success)
    throw invalid(
      `Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`).join('; ')}`,
    )
}

export function agentNamed(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const agent = agents.find((known) => known.name === name)
  const names = agents.map((known) => known.name)
  if (!agent) throw invalid(`There is no agent "${name}"${didYouMean(name, names)} Agents are: ${names.join(', ')}.`)
  return agent
}
