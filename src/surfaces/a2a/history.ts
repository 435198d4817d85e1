import type { Message } from '@a2a-js/sdk'
import type { Event } from '../../domain/event/event.ts'
import type { MessageKey, ToldTask } from '../../operations/tasks/transcript.ts'
import { byAgent, byUser, type Said, textPart } from './say.ts'
import { questionParts } from './status.ts'

/** A client that wants more asks for it; nobody is sent a journal of days unasked. */
export const defaultHistory = 100
export const mostHistory = 1_000

/** What was said in a task as messages, the oldest first: the request, then what the agent and those who answered said. */
export function historyOf(task: ToldTask, said: readonly Event[], keys: readonly MessageKey[], limit: number): Message[] {
  const first = keys.find((key) => key.question === undefined)
  const request = byUser({ id: first?.id ?? `${task.id}-request`, task, parts: [textPart(task.prompt)] })
  const messages = [request, ...said.flatMap((event) => messageOf(event, task, keys) ?? [])]
  return limit === 0 ? [] : messages.slice(-limit)
}

/** The message that an event is, if it is one. */
export function messageOf(event: Event, task: ToldTask, keys: readonly MessageKey[] = []): Message | undefined {
  const said = { id: utteranceId(event), task } satisfies Partial<Said>
  switch (event.type) {
    case 'agent.message':
    case 'message.sent':
      return byAgent({ ...said, parts: [textPart(event.data.text)] })
    case 'question.asked': {
      const { questionId } = event.data
      const asked = task.questions.find((question) => question.id === questionId)
      return byAgent({ ...said, id: questionId, parts: asked ? questionParts(asked) : [textPart(event.data.text)] })
    }
    case 'question.answered': {
      const { questionId, answer } = event.data
      const id = keys.find((key) => key.question === questionId)?.id ?? said.id
      return byUser({ ...said, id, parts: [textPart(answer)] })
    }
    default:
      return undefined
  }
}

/** The same whenever and by whichever process it is told. */
export const utteranceId = ({ task, seq }: Pick<Event, 'task' | 'seq'>) => `${task}-${seq}`
