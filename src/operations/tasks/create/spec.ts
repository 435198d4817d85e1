import type { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import type { TaskSpec } from '../../../domain/task/spec.ts'
import type { NewTask } from '../../../domain/view/view.ts'

/** What the task says about itself, without what it does not say. */
export function specOf(input: NewTask, agent: ResolvedAgent, failover: readonly ResolvedAgent[]): TaskSpec {
  const said = {
    allowHome: input.allowHome || undefined,
    contextDirs: nonEmpty(input.contextDirs),
    writableDirs: nonEmpty(input.writableDirs),
    mounts: nonEmpty(input.mounts),
    allowedTools: nonEmpty(input.allowedTools),
    disallowedTools: nonEmpty(input.disallowedTools),
    appendSystemPrompt: input.appendSystemPrompt,
    role: input.role,
    skipPlanning: input.skipPlanning,
    review: input.review || undefined,
    checks: checksOf(input, agent),
    once: input.once || undefined,
    acceptPartial: input.acceptPartial || undefined,
    failover: failover.length > 0 ? [...failover] : undefined,
    questions: input.questions,
    subtasks: input.subtasks,
    record: (input.record ?? agent.record) || undefined,
  }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
}

/** Those of the agent are about whole tasks; what an agent splits off is checked with the whole. */
function checksOf({ checks, parent }: NewTask, agent: ResolvedAgent): TaskSpec['checks'] {
  if (checks === null) return undefined
  return checks ?? (parent === undefined ? agent.checks : undefined)
}

const nonEmpty = <T>(list: T[] | undefined) => (list?.length ? list : undefined)
