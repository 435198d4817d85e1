import { createHash } from 'node:crypto'
import type { Continuation, TaskRow } from '../../store/tables.ts'

/**
 * What this run asks of the agent, by a name: the task, and what has come to it since it was made. A run that was cut short is followed by one of the same name; an answer, a
 * comment or a failed check make another.
 */
export function askIdOf({ id, continuation }: Pick<TaskRow, 'id' | 'continuation'>): string {
  const since = continuation && sinceThen(continuation)
  if (!since) return id
  return `${id}.${createHash('sha256').update(JSON.stringify(since)).digest('hex').slice(0, 16)}`
}

function sinceThen(continuation: Continuation): readonly unknown[] | undefined {
  switch (continuation.kind) {
    case 'answer':
      return continuation.answers.filter(({ heard }) => !heard).map(({ questionId, answer }) => [questionId, answer])
    case 'checks':
      return ['checks', continuation.failed, continuation.after]
    case 'rejected':
      return ['rejected', continuation.comment, continuation.after]
    case 'subtasks':
      return ['subtasks', continuation.results]
    // Tried again is what was asked before, unless a new conversation is wanted for it.
    case 'retry':
      return continuation.fresh ? ['fresh', continuation.after] : undefined
  }
}
