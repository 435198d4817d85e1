import type { TaskCost } from '../../domain/money/cost-view.ts'
import type { Db } from '../../store/database.ts'
import { costOfTask, costOfTree } from '../../store/ledger.ts'

/** What a task cost itself, and with everything below it. */
export async function costsOf(db: Db, task: { id: string; has_subtasks: boolean }): Promise<TaskCost> {
  const total = await costOfTree(db, task.id)
  const own = task.has_subtasks ? await costOfTask(db, task.id) : total
  return { usd: own.costUsd, totalUsd: total.costUsd, known: total.known }
}
