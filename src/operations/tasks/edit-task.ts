import type { Standing } from '../../domain/auth/role.ts'
import { conflict } from '../../domain/error.ts'
import { type Caps, raisedIn, withCaps } from '../../domain/money/caps.ts'
import { isEnded, rankOf } from '../../domain/task/task.ts'
import type { TaskEdit } from '../../domain/view/view.ts'
import type { Audit, Caller } from '../../engine/auth/audit.ts'
import { assertMayRaise } from '../../engine/auth/may-ask.ts'
import type { Moving } from '../../engine/tasks/move.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Tx } from '../../store/database.ts'
import type { TaskRow } from '../../store/tables.ts'
import { setCaps, setLabels } from '../../store/task-changes.ts'
import { lockTask } from '../../store/tasks.ts'

/** Changes what a task may use from here on, whichever of its agents goes on with it. */
export async function changeCaps(tx: Tx, task: TaskRow, caps: Caps, standing: Standing | undefined): Promise<void> {
  const { agent_config, spec } = task
  assertMayRaise(standing, raisedIn(caps.budget, agent_config.budget))
  const failover = spec.failover?.map((agent) => withCaps(agent, caps))
  await setCaps(tx, task.id, { agent: withCaps(agent_config, caps), spec: { ...spec, ...(failover ? { failover } : {}) } })
}

/** Changes how a task that waits is called, found and ranked. */
export async function editTask(
  { tx, record, at }: Moving,
  id: string,
  edit: TaskEdit,
  { caller, audit }: { caller: Caller; audit: Audit },
): Promise<void> {
  const task = await lockTask(tx, id)
  if (!task || isEnded(task.state) || task.state === 'running')
    throw conflict(`Task ${id} is ${task?.state ?? 'gone'}; only a task that waits can be changed.`)
  const { name = task.name, priority = task.priority, tags = task.tags } = edit
  // Its place in the queue moves by what its priority moves, and by nothing else.
  const rank = Number(task.rank) + rankOf(0, priority) - rankOf(0, task.priority)
  await setLabels(tx, id, { name, priority, rank, tags, at })
  const changed = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined))
  record({ task: id, event: { type: 'task.edited', data: { by: caller.by, ...changed } } })
  await insertAudit(tx, audit.entry(caller, 'task.edit', id, changed))
}
