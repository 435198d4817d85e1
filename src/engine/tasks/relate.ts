import type { TraceContext } from '../../domain/base/trace-context.ts'
import { conflict, invalid } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { NewTask } from '../../domain/view/view.ts'
import type { Db, Tx } from '../../store/database.ts'
import { ancestorsOf, findRelated, lockRelated, markWaitedFor, type Related } from '../../store/task-relations.ts'
import { findTask, type TaskToInsert } from '../../store/tasks.ts'
import { heldBack, nameOf, takesPartial } from './dependencies.ts'

type Relations = Pick<NewTask, 'dependsOn' | 'parent' | 'acceptPartial'>

/**
 * What a new task waits for and is a part of, as it is in the transaction that writes the task. The tasks it depends on stay as they are until then: one that ends in
 * this very moment ends before, and counts as ended, or after, and finds the new one waiting for it.
 */
export async function relate(
  tx: Tx,
  relations: Relations,
): Promise<Pick<TaskToInsert, 'dependsOn' | 'waitsFor' | 'heldBack' | 'parent'> & { trace?: TraceContext | undefined }> {
  const { above, ids, known } = await lookUp(tx, relations, (ids) => lockRelated(tx, ids))
  const waitsFor = known.filter((task) => task.state !== 'completed').map((task) => task.id)
  const held = takesPartial(relations) ? undefined : heldBack(known)
  // One that has ended may be tried again, and then lets go what it holds back.
  const awaited = held ? ids : waitsFor
  if (awaited.length > 0) await markWaitedFor(tx, awaited)
  return {
    dependsOn: ids,
    waitsFor,
    ...(waitsFor.length === 0 && held ? { heldBack: held } : {}),
    ...(above ? { parent: { id: above.id, rootId: above.root_id, depth: above.depth }, trace: above.spec.trace } : {}),
  }
}

/** Refuses what a new task could not be related to as things are now. */
export async function assertRelatable(db: Db, relations: Relations): Promise<void> {
  await lookUp(db, relations, (ids) => findRelated(db, ids))
}

async function lookUp(db: Db | Tx, { dependsOn = [], parent }: Relations, find: (ids: string[]) => Promise<Related[]>) {
  const above = parent === undefined ? undefined : await findTask(db, parent)
  if (parent !== undefined && !above)
    throw invalid(`There is no task ${parent} that this one could be a part of; "pawl ls" lists those there are.`)
  const ids = [...new Set(dependsOn)]
  const known = ids.length > 0 ? await find(ids) : []
  const unknown = ids.find((id) => !known.some((task) => task.id === id))
  if (unknown !== undefined) throw invalid(`There is no task ${unknown} to depend on; "pawl ls" lists those there are.`)
  const hopeless = known.find((task) => isEnded(task.state) && task.state !== 'completed')
  if (hopeless)
    throw conflict(`${nameOf(hopeless)} is ${hopeless.state}, so what depends on it would never begin; retry it first.`)
  if (above && ids.length > 0) await assertNotAbove(db, above.id, known)
  return { above, ids, known }
}

/** What a task is a part of ends after it. */
async function assertNotAbove(db: Db | Tx, parent: string, known: readonly Related[]): Promise<void> {
  const above = await ancestorsOf(db, parent)
  const own = known.find((task) => above.includes(task.id))
  if (own) throw invalid(`${nameOf(own)} waits for its subtasks, so a subtask of it cannot depend on it.`)
}
