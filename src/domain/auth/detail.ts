import type { Event } from '../event/event.ts'
import type { NotificationView } from '../notification/notification.ts'
import { type Category, categories } from '../run/outcome.ts'
import type { ScheduleSummary, TickView } from '../schedule/schedule.ts'
import type { LimitView } from '../view/limit.ts'
import type { HealthView, RunView, TaskSummary, TaskView } from '../view/view.ts'
import type { Standing } from './role.ts'

/** Whoever works with agents, or owns them, sees what went wrong in full; all others what kind of trouble it was, and where to look it up. */
export const seesDetail = (standing: Standing | undefined): boolean => standing === 'operator' || standing === 'admin'

const isCategory = (kind: string): kind is Category => kind in categories
/** A task that waits before it is tried again waits because of what somebody else's program said; one whose worker died names the machine. */
const isTrouble = (kind: string) => isCategory(kind) || kind === 'backoff' || kind === 'worker_lost'
const safe = (category: Category | null | undefined, reference: string) =>
  `${category ? categories[category].says : 'Something went wrong.'} (reference ${reference})`

/** A task as those see it who do not see the detail. What the agent was asked and what it answered is no detail. */
export function withoutDetail<T extends TaskSummary & { runs?: RunView[]; suspect?: TaskView['suspect'] }>(task: T): T {
  const { reason, runs, suspect } = task
  return {
    ...task,
    ...(reason?.detail !== undefined && isTrouble(reason.kind)
      ? { reason: { ...reason, detail: safe(isCategory(reason.kind) ? reason.kind : undefined, task.id) } }
      : {}),
    ...(suspect ? { suspect: { ...suspect, host: kept } } : {}),
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
    case 'task.parked': {
      const { kind, detail } = event.data
      if (detail === undefined || !isTrouble(kind)) return event
      return { ...event, data: { ...event.data, detail: safe(isCategory(kind) ? kind : undefined, event.task) } }
    }
    case 'task.requeued':
      return event.data.why === 'retry' && event.data.detail !== undefined
        ? { ...event, data: { ...event.data, detail: kept } }
        : event
    case 'hook.ran': {
      const failure = event.data.failure === undefined ? {} : { failure: kept }
      return { ...event, data: { ...event.data, output: kept, ...failure } }
    }
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

/** Why something could not be sent names hosts, variables and programs of the machine. */
export const notificationWithoutDetail = (notification: NotificationView): NotificationView =>
  notification.lastError === null ? notification : { ...notification, lastError: kept }

/** What the provider said, and where the key of the account comes from. */
export const limitWithoutDetail = (limit: LimitView): LimitView => ({
  ...limit,
  account: limit.agents.join(', '),
  why: categories[limit.kind].says,
})

/** What went wrong with the tasks of a schedule is said with those, to whoever may see it. */
export function scheduleWithoutDetail<T extends ScheduleSummary & { ticks?: TickView[] }>(schedule: T): T {
  const tick = (one: TickView): TickView =>
    one.state === 'failed' || one.state === 'waiting' ? { ...one, detail: hidden(one) } : one
  const { lastTick, health, ticks } = schedule
  return {
    ...schedule,
    lastTick: lastTick && tick(lastTick),
    health: { ...health, detail: hidden(health) },
    ...(ticks ? { ticks: ticks.map(tick) } : {}),
  }
}
const hidden = ({ detail }: { detail: string | null }) => (detail === null ? null : kept)

export const healthWithoutDetail = (health: HealthView): HealthView => ({
  ...health,
  schedules: {
    ...health.schedules,
    unhealthy: health.schedules.unhealthy.map((one) => ({ ...one, detail: kept })),
    refused: health.schedules.refused.map(({ name }) => ({ name, source: kept, detail: kept })),
  },
  agents: health.agents.map((one) => ({
    ...one,
    detail: one.detail === null ? null : safe(one.category, one.lastTask),
    todo: one.todo === null ? null : kept,
  })),
})
