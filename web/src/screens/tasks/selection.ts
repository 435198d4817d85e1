import { useState } from 'react'
import type { TaskSummary } from '../../../../src/domain/view/view.ts'

export type Chosen = Pick<TaskSummary, 'id' | 'state' | 'name' | 'prompt'>

/** Which tasks are chosen for something to be done to all of them, and from where a range begins. */
export interface Selection {
  readonly chosen: ReadonlyMap<string, Chosen>
  toggle(task: Chosen): void
  /** Everything from the last one that was chosen, or else from `start`, to this, in this order. */
  extend(to: Chosen, order: readonly Chosen[], start?: Chosen): void
  add(tasks: readonly Chosen[]): void
  remove(ids: readonly string[]): void
  clear(): void
}

export function useSelection(): Selection {
  const [state, setState] = useState<{ chosen: ReadonlyMap<string, Chosen>; from: string | undefined }>({
    chosen: new Map(),
    from: undefined,
  })
  return {
    chosen: state.chosen,
    toggle: (task) =>
      setState(({ chosen }) => {
        const next = new Map(chosen)
        if (!next.delete(task.id)) next.set(task.id, task)
        return { chosen: next, from: task.id }
      }),
    extend: (to, order, start = to) =>
      setState(({ chosen, from = start.id }) => {
        const end = order.findIndex(({ id }) => id === to.id)
        const begin = order.findIndex(({ id }) => id === from)
        const range = begin === -1 ? [to] : order.slice(Math.min(begin, end), Math.max(begin, end) + 1)
        return { chosen: new Map([...chosen, ...range.map((task) => [task.id, task] as const)]), from }
      }),
    add: (tasks) =>
      setState(({ chosen, from }) => ({ chosen: new Map([...chosen, ...tasks.map((task) => [task.id, task] as const)]), from })),
    remove: (ids) => setState(({ chosen, from }) => ({ chosen: new Map([...chosen].filter(([id]) => !ids.includes(id))), from })),
    clear: () => setState({ chosen: new Map(), from: undefined }),
  }
}
