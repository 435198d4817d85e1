import type { CostView } from '../../domain/money/cost-view.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { HealthView, QuestionView, TaskSummary } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'

/** Everything that the overview shows, at one moment. */
export interface Overview {
  readonly questions: readonly QuestionView[]
  /** Those that ask and have stopped meanwhile. */
  readonly asking: readonly TaskSummary[]
  /** Tasks that wait for a person and ask no question. */
  readonly waiting: readonly TaskSummary[]
  readonly running: readonly TaskSummary[]
  readonly parked: readonly TaskSummary[]
  readonly queued: readonly TaskSummary[]
  readonly doneToday: readonly TaskSummary[]
  readonly counts: HealthView['tasks']
  /** What fails without anybody being asked, in sentences. */
  readonly trouble: readonly string[]
  readonly spentUsd: number
  readonly capUsd: number | null
}

/** How many of a kind are shown. */
const most = 50

export async function loadOverview(
  runtime: Pick<Runtime, 'health' | 'listQuestions' | 'listTasks' | 'listCosts'>,
  costs?: CostView,
): Promise<Overview & { costs: CostView }> {
  const tasks = async (...states: TaskState[]) => (await runtime.listTasks({ states, limit: most })).items
  const [health, questions, stopped, running, parked, queued, ended, spent] = await Promise.all([
    runtime.health(),
    runtime.listQuestions({ state: 'pending' }),
    tasks('review', 'blocked'),
    tasks('running'),
    tasks('parked'),
    tasks('queued', 'created'),
    tasks('completed', 'failed', 'timed_out', 'cancelled', 'over_budget'),
    costs ?? runtime.listCosts({ by: 'agent' }),
  ])
  const asking = new Set(questions.map(({ task }) => task))
  const today = new Date().toDateString()
  return {
    questions,
    asking: stopped.filter(({ id }) => asking.has(id)),
    waiting: stopped.filter(({ id, state, reason }) => state === 'review' || (!asking.has(id) && reason?.kind !== 'subtasks')),
    running,
    parked: [...parked].sort((a, b) => Date.parse(a.resumeAt ?? '9999-01-01') - Date.parse(b.resumeAt ?? '9999-01-01')),
    queued: [...queued, ...stopped.filter(({ state, reason }) => state === 'blocked' && reason?.kind === 'subtasks')],
    doneToday: ended.filter(({ endedAt }) => endedAt !== null && new Date(endedAt).toDateString() === today),
    counts: health.tasks,
    trouble: troubleOf(health),
    spentUsd: spent.total.usd ?? 0,
    capUsd: spent.caps.dayUsd,
    costs: spent,
  }
}

const troubleOf = ({ halt, walls, schedules, notifications }: HealthView): string[] => [
  ...(halt ? [`All agents are stopped by ${halt.by}; "pawl resume" lets them go on.`] : []),
  ...(walls.enforced ? [] : [`Agents run without walls: ${walls.detail}`]),
  ...schedules.unhealthy.map(
    ({ id, name, failedInARow }) => `The schedule ${name ?? id} has failed ${failedInARow} times in a row.`,
  ),
  ...schedules.refused.map(({ name, detail }) => `The schedule ${name} is not in force: ${detail}`),
  ...(notifications.dead > 0 ? [`${notifications.dead} notifications were given up; see "pawl notifications ls".`] : []),
]
