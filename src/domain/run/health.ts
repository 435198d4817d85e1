import { z } from 'zod'
import { TaskId } from '../id.ts'
import { type Category, categories, categoryNames, type Outcome } from './outcome.ts'

/** How the last runs of one agent went: an agent that fails without anybody being asked would go on doing so for ever unless somebody sees it. */
export const AgentRecord = z.object({
  agent: z.string(),
  healthy: z.boolean().describe('False after several failures in a row, or if its program was found not to be well after one.'),
  failedInARow: z.number().describe('Runs that failed without one that did well between or after them.'),
  lastSucceededAt: z.iso.datetime().nullable().describe('Null if none of its last runs did well.'),
  lastEndedAt: z.iso.datetime(),
  lastTask: TaskId.describe('The task of its last run that says anything about it.'),
  category: z.enum(categoryNames).nullable().describe('What kind of trouble the last one had.'),
  detail: z.string().nullable().describe('What went wrong last.'),
  todo: z.string().nullable().describe('What to do about it.'),
})
export type AgentRecord = z.infer<typeof AgentRecord>

/** A task that runs and says nothing. */
export const StuckTask = z.object({
  task: TaskId,
  name: z.string().nullable(),
  agent: z.string(),
  silentSince: z.iso.datetime(),
  todo: z.string(),
})
export type StuckTask = z.infer<typeof StuckTask>

export interface ToldRun {
  readonly outcome: Outcome
  readonly category: Category | null
  readonly message: string | null
  readonly task: string
  readonly endedAt: Date
}

export interface Finding {
  readonly healthy: boolean
  readonly detail: string
  readonly fix?: string | undefined
  readonly at: Date
}

/** So many in a row are no accident. */
const failuresThatMatter = 3

const good: readonly Outcome[] = ['succeeded', 'partial']
/** Not `lost` and `interrupted`: there Pawl, or the machine, ended and not the agent. */
const bad: readonly Outcome[] = ['failed', 'timed_out', 'empty', 'tripped']
/** The agent did its part, or could not: its provider is busy, somebody else decided, Pawl made a mistake. */
const saysNothing: readonly (Category | null)[] = [
  'internal',
  ...(['checks_failed', 'usage_limit', 'rate_limited', 'dependency_failed'] as const),
  ...(['unanswered', 'budget_exceeded', 'workspace_error', 'reported_failure'] as const),
]

/** From its last runs, newest first, and what asking its program showed after a failure that explained nothing. Undefined if they say nothing about it. */
export function recordOf(agent: string, runs: readonly ToldRun[], finding: Finding | undefined): AgentRecord | undefined {
  const telling = runs.filter(
    ({ outcome, category }) => good.includes(outcome) || (bad.includes(outcome) && !saysNothing.includes(category)),
  )
  const [last] = telling
  if (!last) return undefined
  const firstGood = telling.findIndex(({ outcome }) => good.includes(outcome))
  const failedInARow = firstGood === -1 ? telling.length : firstGood
  const success = telling[firstGood]
  const isFound = finding !== undefined && !finding.healthy && (!success || success.endedAt < finding.at)
  const isSick = failedInARow >= failuresThatMatter || isFound
  const said = isFound ? finding.detail : (last.message ?? (last.category ? categories[last.category].says : 'It failed.'))
  return {
    agent,
    healthy: !isSick,
    failedInARow,
    lastSucceededAt: success?.endedAt.toISOString() ?? null,
    lastEndedAt: last.endedAt.toISOString(),
    lastTask: last.task,
    category: failedInARow > 0 ? last.category : null,
    detail: failedInARow > 0 || isFound ? said : null,
    todo: isSick ? ((isFound ? finding.fix : undefined) ?? todoOf(agent, last)) : null,
  }
}

function todoOf(agent: string, { category, task }: ToldRun): string {
  switch (category) {
    case 'auth_failed':
      return `log in with its program once in a terminal, or give it its key; "pawl agents ${agent}" says where it is looked for`
    case 'binary_missing':
      return `"pawl agents ${agent}" says how to install it`
    case 'bad_config':
      return `correct agents.${agent} in the settings: pawl config show`
    case 'sandbox_error':
      return 'pawl doctor'
    case 'network':
    case 'overloaded':
      return 'look whether its provider is reached: pawl models --check'
    default:
      return `look at what its last run said: pawl logs ${task}`
  }
}
