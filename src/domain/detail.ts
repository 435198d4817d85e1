import type { Event } from './event.ts'
import { type Category, categories } from './outcome.ts'
import type { Standing } from './role.ts'
import type { RunView, TaskSummary } from './view.ts'

/** Whoever works with agents, or owns them, sees what went wrong in full; all others what kind of trouble it was, and where to look it up. */
export const seesDetail = (standing: Standing | undefined): boolean => standing === 'operator' || standing === 'admin'

const isCategory = (kind: string): kind is Category => kind in categories
const safe = (category: Category | null | undefined, reference: string) =>
  `${category ? categories[category].says : 'Something went wrong.'} (reference ${reference})`

/** A task as those see it who do not see the detail. What the agent was asked and what it answered is no detail. */
export function withoutDetail<T extends TaskSummary & { runs?: RunView[] }>(task: T): T {
  const { reason, runs } = task
  return {
    ...task,
    ...(reason?.detail !== undefined && isCategory(reason.kind)
      ? { reason: { ...reason, detail: safe(reason.kind, task.id) } }
      : {}),
    ...(runs ? { runs: runs.map((run) => (run.message === null ? run : { ...run, message: safe(run.category, run.id) })) } : {}),
  }
}

const kept = '(kept for operators)'

/** The same for an event: the program's own complaints and the sentences made of them are left out, with their place kept. */
export function eventWithoutDetail(event: Event): Event {
  switch (event.type) {
    case 'task.failed':
    case 'task.timed_out':
      return { ...event, data: { ...event.data, message: safe(event.data.category, event.task) } }
    case 'run.ended':
      return event.data.message === undefined
        ? event
        : { ...event, data: { ...event.data, message: safe(event.data.category, event.run ?? event.task) } }
    case 'run.noted':
      return { ...event, data: { ...event.data, detail: kept } }
    case 'agent.stderr':
      return { ...event, data: { text: kept } }
    case 'agent.unknown':
      return { ...event, data: { raw: kept } }
    case 'agent.retrying':
      return { ...event, data: { ...event.data, detail: kept } }
    default:
      return event
  }
}
