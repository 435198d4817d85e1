import { accountOf } from '../../../domain/agent/account.ts'
import type { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import { coolingOf } from '../../../store/cooldowns.ts'
import type { Tx } from '../../../store/database.ts'
import { handOver } from '../../../store/hand-over.ts'
import type { TaskRow } from '../../../store/tables.ts'

/**
 * Gives the task to the next agent of its failover list whose account is free, with its conversation to be rebuilt. Undefined if there is none. The agent before
 * goes to the end of the list: when the new one meets its own limit, it may be its turn again, and not earlier. That none of the list may do or spend more than
 * the task allows was seen to when the task was made.
 */
export async function failOver(tx: Tx, task: TaskRow, at: Date): Promise<{ from: string; to: string } | undefined> {
  const { spec, agent_config: current } = task
  if (!spec.failover?.length || spec.once) return undefined
  const able = spec.failover.filter((agent) => understands(agent, task) && accountOf(agent) !== task.account)
  const cooling = able.length === 0 ? new Set() : await coolingOf(tx, able.map(accountOf), at)
  const next = able.find((agent) => !cooling.has(accountOf(agent)))
  if (!next) return undefined
  const others = spec.failover.slice(spec.failover.indexOf(next) + 1)
  const skipped = spec.failover.slice(0, spec.failover.indexOf(next))
  const changed = { ...spec, failover: [...others, ...skipped, current] }
  const isGiven = await handOver(tx, task, { agent: next, account: accountOf(next), spec: changed, at })
  return isGiven ? { from: current.name, to: next.name } : undefined
}

/** Arguments that were meant for one program are no use to another, and must not be left out: they may hold it back. */
const understands = (agent: ResolvedAgent, task: TaskRow) =>
  task.extra_args.length === 0 || agent.adapter === task.agent_config.adapter
