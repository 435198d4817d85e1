import type { Adapter } from '../../../agents/port.ts'
import { accountOf } from '../../../domain/agent/account.ts'
import type { Budget, ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import { conflict, denied, invalid } from '../../../domain/error.ts'
import { rightsOf } from '../../../domain/profile/resolve.ts'
import { SubtaskLimits, type TaskSpec } from '../../../domain/task/spec.ts'
import type { SubtaskAsked } from '../../../domain/task/subtask.ts'
import { rankOf } from '../../../domain/task/task.ts'
import type { Tx } from '../../../store/database.ts'
import { costOfTask } from '../../../store/runs.ts'
import { capsGiven, countTree, subtasksOf } from '../../../store/subtasks.ts'
import { type LockedTask, lockTask, type TaskToInsert } from '../../../store/tasks.ts'
import { refusedCheck } from '../../auth/may-decide.ts'
import { tokensFor, usdFor } from './share.ts'

export const limitsOf = (spec: TaskSpec): SubtaskLimits => spec.subtasks ?? SubtaskLimits.parse({})

/** Could a subtask be made of a task like this one at all? */
export const maySplit = ({ spec, depth }: Pick<LockedTask, 'spec' | 'depth'>): boolean => {
  const { most, depth: deepest } = limitsOf(spec)
  return most > 0 && depth < deepest && spec.once !== true
}

/** Refuses, in words for the agent, one subtask more than the task may have. The task is locked, and so is the topmost one from here on: nobody else counts at the same time. */
export async function assertMaySplit(tx: Tx, task: LockedTask): Promise<void> {
  const { most, depth } = limitsOf(task.spec)
  if (task.cancel !== null) throw conflict('This task is being cancelled; make no subtasks of it.')
  if (task.spec.replay) throw denied('This task repeats a recorded run and makes no subtasks; do the work yourself.')
  if (task.spec.once) throw denied('This task is run once only, so it could not go on after its subtasks; do the work yourself.')
  if (task.depth >= depth)
    throw denied(
      depth === 0
        ? 'This task may have no subtasks; do the work yourself.'
        : `This task is a subtask itself, ${task.depth} deep, and there is nothing deeper; do the work yourself.`,
    )
  if (task.root_id !== task.id) await lockTask(tx, task.root_id)
  const count = await countTree(tx, task.root_id)
  if (count >= most)
    throw denied(
      `There are ${count} subtasks already, as many as there may be; do the rest of the work yourself, or give more of it to one subtask.`,
    )
}

/** Those that the agent named by their ids: subtasks of the same task. */
export async function siblingsNamed(tx: Tx, parent: string, named: readonly string[]): Promise<string[]> {
  const siblings = await subtasksOf(tx, parent)
  const stranger = named.find((id) => !siblings.some((sibling) => sibling.id === id))
  if (stranger !== undefined)
    throw invalid(`"${stranger.slice(0, 60)}" is no subtask of yours; dependsOn takes the ids of subtasks that you have made.`)
  return [...new Set(named)]
}

/** What a subtask has of its parent: the rights, the user, the place, the restrictions. What the agent may decide is put on top of it and is never more. */
export async function partOf(
  tx: Tx,
  parent: LockedTask,
  asked: SubtaskAsked,
  known: { agents: readonly ResolvedAgent[]; adapterNamed: (name: string, options?: unknown) => Adapter },
): Promise<Omit<TaskToInsert, 'id' | 'session' | 'at'>> {
  const own = parent.agent_config
  const base = asked.agent === undefined || asked.agent === own.name ? own : agentFor(parent, asked.agent, known.agents)
  if (asked.model !== undefined && !known.adapterNamed(base.adapter, base.options).can.model)
    throw invalid(`Agent "${base.name}" takes no model; leave it out.`)
  const refused = asked.checks && refusedCheck(asked.checks, rightsOf(own), { mayAllow: false, workspace: parent.workspace })
  if (refused)
    throw denied(
      `The check "${refused.run.slice(0, 200)}" would be run for you without anybody being asked, and you may not run it like that yourself: ${refused.why} Leave it out.`,
    )
  const { rights: _, ...plain } = base
  const agent: ResolvedAgent = {
    ...plain,
    profile: own.profile,
    ...(own.rights === undefined ? {} : { rights: own.rights }),
    ...(asked.model === undefined ? {} : { model: asked.model }),
    budget: await budgetOf(tx, parent, asked, base.budget),
    timeoutMs: least(own.timeoutMs, base.timeoutMs, asked.timeoutMs),
    retry: own.retry,
  }
  const isSame = base === own
  return {
    agent,
    account: isSame ? parent.account : accountOf(agent),
    name: asked.name,
    spec: specOf(parent.spec, asked, isSame),
    parent: { id: parent.id, rootId: parent.root_id, depth: parent.depth },
    prompt: asked.prompt,
    workspace: parent.workspace,
    workspaceOwn: parent.workspace_own,
    workspaceHow: parent.workspace_how ?? undefined,
    priority: parent.priority,
    // As old as its parent: whoever split its work does not wait longer for it.
    rank: rankOf(parent.created_at.getTime(), parent.priority),
    tags: asked.tags ?? [],
    extraArgs: isSame ? parent.extra_args : [],
    attended: parent.attended,
    boundTo: parent.bound_to,
    user: parent.user_name,
  }
}

function agentFor(parent: LockedTask, name: string, agents: readonly ResolvedAgent[]): ResolvedAgent {
  const allowed = limitsOf(parent.spec).agents ?? []
  const found = allowed.includes(name) ? agents.find((agent) => agent.name === name) : undefined
  if (!found)
    throw denied(
      `Subtasks of this task can be given to: ${[parent.agent, ...allowed].join(', ')}; not to "${name}". Leave the agent out for your own.`,
    )
  return found
}

function specOf(parent: TaskSpec, asked: SubtaskAsked, isSameAgent: boolean): TaskSpec {
  const { allowHome, contextDirs, writableDirs, allowedTools, disallowedTools, appendSystemPrompt, role } = parent
  const { failover, questions, subtasks } = parent
  return {
    allowHome,
    contextDirs,
    writableDirs,
    allowedTools,
    disallowedTools,
    appendSystemPrompt,
    role,
    questions,
    ...(isSameAgent ? { failover } : {}),
    ...(subtasks ? { subtasks: { ...subtasks, whenDone: 'continue' } } : {}),
    checks: asked.checks,
    skipPlanning: asked.skipPlanning ?? true,
  }
}

/** Taken from what its parent may still use. Where the parent has no cap, the subtask has the one that was asked for, or none. */
async function budgetOf(tx: Tx, parent: LockedTask, asked: SubtaskAsked, base: Budget): Promise<Budget> {
  const { usd, tokens } = parent.agent_config.budget
  const { usd: _usd, tokens: _tokens, ...others } = base
  const share = limitsOf(parent.spec).budgetShare
  const isCapped = usd !== undefined || tokens !== undefined
  const given = isCapped ? await capsGiven(tx, parent.id) : { usd: 0, tokens: 0 }
  const spent = usd === undefined ? 0 : ((await costOfTask(tx, parent.id)) ?? 0)
  const cap = usd === undefined ? asked.budgetUsd : usdFor({ cap: usd, share, spent, given: given.usd }, asked.budgetUsd)
  return {
    ...others,
    ...(cap === undefined ? {} : { usd: cap }),
    ...(tokens === undefined ? {} : { tokens: tokensFor({ cap: tokens, share, spent: 0, given: given.tokens }) }),
    ...(others.perRunUsd === undefined || cap === undefined ? {} : { perRunUsd: Math.min(others.perRunUsd, cap) }),
  }
}

/** The shortest of them; null where none is set. */
function least(...limits: (number | null | undefined)[]): number | null {
  const set = limits.filter((limit) => limit !== null && limit !== undefined)
  return set.length === 0 ? null : Math.min(...set)
}
