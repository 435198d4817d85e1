import { type AgentRecord, recordOf, type StuckTask } from '../../domain/run/health.ts'
import { type EndedRun, lastRuns, silentTasks } from '../../store/agent-runs.ts'
import type { Db } from '../../store/database.ts'
import type { Findings } from './findings.ts'

const lookedBackMs = 7 * 24 * 60 * 60_000
const runsOfEach = 20
/** Longer than an agent may be silent, and than a tool call may be open, unless its settings say otherwise. */
const stuckAfterMs = 10 * 60_000
const openAfterMs = 5 * 60 * 60_000

/** What goes wrong without anybody being asked. */
export async function lookForTrouble(
  db: Db,
  { now, findings }: { now: Date; findings?: Pick<Findings, 'of'> | undefined },
): Promise<{ agents: AgentRecord[]; stuck: StuckTask[] }> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const [runs, silent] = await Promise.all([
    lastRuns(db, { since: ago(lookedBackMs), each: runsOfEach }),
    silentTasks(db, { quiet: ago(stuckAfterMs), open: ago(openAfterMs) }),
  ])
  const byAgent = Map.groupBy(runs, ({ agent }) => agent)
  return {
    agents: [...byAgent].flatMap(([agent, own]) => recordOf(agent, own.map(told), findings?.of(agent)) ?? []),
    stuck: silent.map(({ id, name, agent, silent_since }) => ({
      task: id,
      name,
      agent,
      silentSince: silent_since.toISOString(),
      todo: `look at it, and stop it if it hangs: pawl cancel ${id}`,
    })),
  }
}

const told = ({ outcome, category, message, task_id, ended_at }: EndedRun) => ({
  outcome,
  category,
  message,
  task: task_id,
  endedAt: ended_at,
})
