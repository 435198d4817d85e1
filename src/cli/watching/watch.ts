import type { Event } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import { restingEvents } from '../../domain/event/resting.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'

export interface Watch {
  readonly task: string
  /** The number of the last event that was shown. */
  readonly after: number
  show(event: Event): void
  /** Asked whenever the task has come to rest. */
  isDone(task: TaskView): boolean
  readonly signal: AbortSignal
  /** A person is there who can answer: a question waits a moment for them. */
  readonly attends?: boolean | undefined
  /** Told what the agent is saying while it says it. */
  onGrowing?: ((growing: Growing | undefined) => void) | undefined
  /** Asked after each batch that has a question in it. */
  onQuestion?(): Promise<void>
}

/** Shows a task's events as they become durable, each once and in order, until it is done. Undefined if the signal came first. */
export async function watchTask(
  runtime: Pick<Runtime, 'followEvents' | 'readEvents' | 'getTask'>,
  watch: Watch,
): Promise<{ task: TaskView; after: number } | undefined> {
  let { after } = watch
  const show = (events: Event[]) => {
    const fresh = events.filter((event) => event.seq > after)
    for (const event of fresh) watch.show(event)
    after = fresh.at(-1)?.seq ?? after
    return fresh
  }
  /** The task with nothing left to show, if it is done. A rest that was seen may be an old one, so what came since is read first. */
  const doneTask = async () => {
    for (;;) {
      const [task, since] = await Promise.all([
        runtime.getTask(watch.task),
        runtime.readEvents(watch.task, { after, limit: 500 }),
      ])
      if (show(since).length === 0) return watch.isDone(task) ? task : undefined
    }
  }
  try {
    const { signal, attends, onGrowing } = watch
    for await (const batch of runtime.followEvents(watch.task, { after, signal, attends, onGrowing })) {
      const fresh = show(batch)
      if (fresh.some((event) => event.type === 'question.asked')) await watch.onQuestion?.()
      if (!fresh.some((event) => restingEvents.has(event.type))) continue
      const task = await doneTask()
      if (task) return { task, after }
    }
  } catch (error) {
    if (!watch.signal.aborted) throw error
  }
  return undefined
}
