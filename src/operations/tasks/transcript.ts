import type { Clock } from '../../base/clock.ts'
import { localUser } from '../../domain/auth/role.ts'
import { notFound } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import type { TaskSummary, TaskView } from '../../domain/view/view.ts'
import type { Caller } from '../../engine/auth/audit.ts'
import { translateDbErrors } from '../../engine/base/translate-db-errors.ts'
import type { Limits } from '../../engine/queue/admission.ts'
import type { Db } from '../../store/database.ts'
import { findByIdempotencyKey } from '../../store/tasks.ts'
import { readTold } from '../../store/utterances.ts'
import { whatTheyWaitFor } from '../../store/waiting.ts'
import { taskView } from './views.ts'

/** What was said in a task, for surfaces whose protocols speak of messages. */
export interface SaidVerbs {
  /** A task with the newest things that were said in it, and the messages whose keys begin with `prefix`: all of one moment. */
  toldTask(id: string, options: { last: number; prefix: string }): Promise<Told>
  /** The task that a message with this key has made, or was for; undefined if none came yet. Keys are each user's own. */
  taskOfMessage(key: string, caller: Caller): Promise<string | undefined>
}

export interface Told {
  readonly task: ToldTask
  /** The number of the task's newest event at that moment. */
  readonly seq: number
  readonly events: readonly Event[]
  /** In the order in which they came. */
  readonly messages: readonly MessageKey[]
}

/** What is needed of a task to tell it in messages. */
export type ToldTask = TaskSummary & Pick<TaskView, 'questions' | 'settings' | 'artifacts'>

/** A message that came, by its key, and what it did. */
export interface MessageKey {
  /** As it was given, without its prefix and whose it is. */
  readonly id: string
  /** The question that it answered. */
  readonly question?: string | undefined
}

export function saidVerbs({
  db,
  clock,
  limits,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly limits?: Limits | undefined
}): SaidVerbs {
  return {
    async toldTask(id, { last, prefix }) {
      const told = await translateDbErrors(() => readTold(db, id, { last }))
      if (!told) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
      const { task, seq, events, questions, artifacts } = told
      const waits = task.state === 'queued' && !task.reason
      const reason = waits
        ? (await translateDbErrors(() => whatTheyWaitFor(db, [task], limits, new Date(clock.now()))))[0]
        : task.reason
      const messages = told.keys.flatMap(({ key, body_hash }) => {
        // Its words went nowhere: it only said that the task may go on.
        if (body_hash === ofRetry) return []
        const given = key.startsWith(prefix) ? key : key.slice(key.indexOf(' ') + 1)
        return given.startsWith(prefix) ? [{ id: given.slice(prefix.length), question: questionIn(body_hash) }] : []
      })
      const { runs, dependsOn, subtasks, cost, ...view } = taskView({ ...task, reason: reason ?? null }, [], questions)
      return { task: { ...view, artifacts }, seq, events, messages }
    },
    async taskOfMessage(key, caller) {
      const found = await translateDbErrors(() => findByIdempotencyKey(db, ownKey(caller, key)))
      return found?.task_id
    },
  }
}

/** Keys are each user's own: nobody is handed a task of another by guessing one. */
export const ownKey = ({ user = localUser }: Caller, given: string) => (user === localUser ? given : `${user} ${given}`)

/** What is kept with the key of a message that had a task tried again, in the place of the hash of a body. */
export const ofRetry = 'retry'
/** The same of an answer. */
export const ofAnswer = (question: string) => `answer ${question}`
const questionIn = (bodyHash: string) => /^answer (q_\w+)$/.exec(bodyHash)?.[1]
