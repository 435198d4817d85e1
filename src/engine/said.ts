import { notFound } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { localUser } from '../domain/role.ts'
import type { Db } from '../store/database.ts'
import { keysOfTask } from '../store/idempotency.ts'
import { findByIdempotencyKey } from '../store/tasks.ts'
import { readUtterances } from '../store/utterances.ts'
import type { Caller } from './entrance/audit.ts'
import { guarded } from './guarded.ts'

/** What was said in a task, for surfaces whose protocols speak of messages. */
export interface SaidVerbs {
  /** The newest things that were said, and the number of the task's newest event at that moment. */
  whatWasSaid(task: string, options: { last: number }): Promise<{ seq: number; events: Event[] }>
  /** The keys that begin like this with which messages to the task came, in their order, and what each did. */
  messagesTo(task: string, prefix: string): Promise<MessageKey[]>
  /** The task that a message with this key has made, or was for; undefined if none came yet. Keys are each user's own. */
  taskOfMessage(key: string, caller: Caller): Promise<string | undefined>
}

export interface MessageKey {
  /** As it was given, without its prefix and whose it is. */
  readonly id: string
  /** The question that it answered. */
  readonly question?: string | undefined
}

export function saidVerbs({ db }: { readonly db: Db }): SaidVerbs {
  return {
    async whatWasSaid(task, options) {
      const said = await guarded(() => readUtterances(db, task, options))
      if (!said) throw notFound(`There is no task ${task}; "pawl ls" lists those there are.`)
      return said
    },
    async messagesTo(task, prefix) {
      const rows = await guarded(() => keysOfTask(db, task))
      return rows.flatMap(({ key, body_hash }) => {
        // Its words went nowhere: it only said that the task may go on.
        if (body_hash === ofRetry) return []
        const given = key.startsWith(prefix) ? key : key.slice(key.indexOf(' ') + 1)
        return given.startsWith(prefix) ? [{ id: given.slice(prefix.length), question: questionIn(body_hash) }] : []
      })
    },
    async taskOfMessage(key, caller) {
      const found = await guarded(() => findByIdempotencyKey(db, ownKey(caller, key)))
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
