import { didYouMean } from '../../../domain/base/nearest.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { newId, TaskId } from '../../../domain/id.ts'
import type { NewTask, NewTasks } from '../../../domain/view/view.ts'

export interface TaskOfMany {
  readonly id: string
  /** Where it stood in the request. */
  readonly index: number
  readonly task: NewTask
}

/** Tasks of one request with their ids, in an order in which each comes after those it depends on. Refuses names that name nothing, and circles. */
export function arrange({ tasks }: NewTasks, nowMs: number): TaskOfMany[] {
  const byName = Map.groupBy(
    tasks.map((task, index) => ({ name: task.name, index })),
    ({ name }) => name,
  )
  const names = [...byName.keys()].filter((name) => name !== undefined)
  const within = tasks.map(({ dependsOn = [] }, index) =>
    dependsOn.flatMap((wanted): number[] => {
      const found = byName.get(wanted) ?? []
      if (found.length > 1)
        throw ofTask(tasks, index, invalid(`depends on "${wanted}", and ${found.length} tasks have that name.`))
      if (found.length === 0 && !TaskId.safeParse(wanted).success)
        throw ofTask(
          tasks,
          index,
          invalid(
            `depends on "${wanted}", which is neither the id of a task nor the name of one here${didYouMean(wanted, names)}`,
          ),
        )
      return found.map((other) => other.index)
    }),
  )
  const order = sorted(within, (index) => titleOf(tasks[index]!, index))
  // Ids of one moment differ by chance only; in this order they also say who came first.
  const ids = order.map(() => newId('task', nowMs)).sort()
  const idOf = new Map(order.map((index, place) => [index, ids[place]!]))
  return order.map((index) => {
    const { dependsOn, ...task } = tasks[index]!
    const byId = dependsOn?.map((wanted) => {
      const found = byName.get(wanted)?.[0]
      return found === undefined ? wanted : idOf.get(found.index)!
    })
    return { id: idOf.get(index)!, index, task: { ...task, ...(byId ? { dependsOn: byId } : {}) } }
  })
}

/** The refusal of one task among several says which one. */
export function ofTask(tasks: NewTasks['tasks'], index: number, error: PawlError): PawlError {
  const { message } = error
  const details = { ...error.details, index }
  return new PawlError(error.code, `${titleOf(tasks[index]!, index)}: ${message}`, { details, cause: error })
}

const titleOf = ({ name }: { name?: string | undefined }, index: number) =>
  name === undefined ? `task ${index + 1}` : `"${name}"`

function sorted(within: readonly (readonly number[])[], title: (index: number) => string): number[] {
  const done = new Set<number>()
  const path: number[] = []
  const visit = (index: number) => {
    if (done.has(index)) return
    const from = path.indexOf(index)
    if (from !== -1)
      throw invalid(
        `These tasks wait for each other: ${[...path.slice(from), index].map(title).join(' → ')}. Take one of the arrows out.`,
      )
    path.push(index)
    for (const before of within[index]!) visit(before)
    path.pop()
    done.add(index)
  }
  for (const index of within.keys()) visit(index)
  return [...done]
}
