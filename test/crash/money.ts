import type { Event } from '../../src/domain/event/event.ts'
import type { TaskView } from '../../src/domain/view/view.ts'

/** What an agent of the kind `spend` prints: its figures go on counting. */
export const spending = { output: 'jsonl', map: { text: 'text', costUsd: 'cost', inputTokens: 'in' } }
const wholeRunUsd = 0.25

/** C12: whatever was told of costs is in the ledger, once. Seen from outside: by the events, by the runs, and by the task. */
export function wrongWithMoney(task: TaskView, events: readonly Event[]): string[] {
  // A program that tells its cost only when it has ended has no events of it.
  if (!events.some((event) => event.type === 'agent.usage' && event.data.costUsd !== undefined)) return []
  const wrong: string[] = []
  const differs = (one: number | null, other: number | null) => Math.abs((one ?? 0) - (other ?? 0)) > 1e-6
  let total = 0
  for (const run of task.runs) {
    const told = events.reduce(
      (sum, event) => (event.type === 'agent.usage' && event.run === run.id ? sum + (event.data.costUsd ?? 0) : sum),
      0,
    )
    total += told
    if (run.state === 'ended' && differs(run.costUsd, told))
      wrong.push(`C12: run ${run.id} cost ${run.costUsd}, its events say ${told}`)
    if (run.outcome === 'succeeded' && run.agent === 'crash-spend' && differs(told, wholeRunUsd))
      wrong.push(`C12: run ${run.id} told of ${told} instead of ${wholeRunUsd}`)
  }
  if (differs(task.cost.usd, total)) wrong.push(`C12: the ledger has ${task.cost.usd}, its events say ${total}`)
  if (task.result && differs(task.result.costUsd, total))
    wrong.push(`C12: its result says ${task.result.costUsd}, its events ${total}`)
  return wrong
}
