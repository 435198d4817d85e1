import { invalid } from '../../domain/error.ts'
import type { AnswerGiven } from '../../domain/question/question.ts'
import { rankOf } from '../../domain/task/task.ts'
import { insertGrant } from '../../store/grants.ts'
import { answerQuestion, questionsOfTask } from '../../store/questions.ts'
import type { QuestionRow } from '../../store/tables.ts'
import { type LockedTask, requestCancel, setReason } from '../../store/tasks.ts'
import { type Moving, move } from '../tasks/move.ts'
import { isStop } from './go-on.ts'
import { newAnswers } from './new-answers.ts'
import { readPermission } from './permission-answers.ts'

/** The words of an answer: what was written, and the options that were chosen by number. */
export function answerText(question: Pick<QuestionRow, 'id' | 'options' | 'multi_select'>, given: AnswerGiven): string {
  const { answer, options: numbers = [] } = given
  if (answer === undefined && numbers.length === 0) throw invalid('Give an answer in words, or the number of an option.')
  const missing = numbers.find((number) => question.options[number - 1] === undefined)
  if (missing !== undefined)
    throw invalid(
      question.options.length === 0
        ? `Question ${question.id} has no options; answer it in words.`
        : `Question ${question.id} has no option ${missing}; it has ${question.options.length}.`,
    )
  if (new Set(numbers).size > 1 && !question.multi_select)
    throw invalid(`Only one option of question ${question.id} may be chosen; it has ${question.options.length}.`)
  const chosen = [...new Set(numbers)].map((number) => question.options[number - 1]!)
  return [...chosen, ...(answer === undefined ? [] : [answer])].join(', ')
}

/**
 * Answers a question, with all that follows: the permission that it gives, and the task that goes on if nothing else is asked. The task is locked by whoever calls.
 * False if the question is not open any more; then nothing is written.
 */
export async function applyAnswer(
  moving: Moving,
  question: QuestionRow,
  task: LockedTask | undefined,
  given: { answer: string; by: string; grantsLastMs: number },
): Promise<boolean> {
  const { tx, record, at } = moving
  const { id, task_id: taskId } = question
  const { answer, by } = given
  if (!(await answerQuestion(tx, id, { answer, by, at }))) return false
  record({ task: taskId, event: { type: 'question.answered', data: { questionId: id, answer, by } } })
  if (question.call && task) {
    const { allow, isOnce, said } = readPermission(answer)
    await insertGrant(tx, {
      question_id: id,
      task_id: taskId,
      session_id: task.session_id,
      tool: question.call.tool,
      input_digest: question.call.inputDigest,
      verdict: allow ? 'allow' : 'deny',
      said: said ?? null,
      is_once: isOnce,
      created_at: at,
      expires_at: isOnce ? new Date(at.getTime() + given.grantsLastMs) : null,
    })
  }
  if (question.kind === 'go_on' && isStop(answer)) {
    await stopTask(moving, taskId, by)
    return true
  }
  const asked = await questionsOfTask(tx, taskId)
  const next = asked.find((other) => other.state === 'pending')
  if (next) {
    if (task?.state === 'blocked') await setReason(tx, taskId, { kind: 'question', detail: next.id }, at)
    return true
  }
  // A task that is still running takes the answers along when its run ends.
  await move(moving, taskId, 'answer', {
    reason: null,
    attempts: 0,
    continuation: newAnswers(asked) ?? null,
    ...(task ? { rank: rankOf(task.created_at.getTime(), task.priority) } : {}),
    event: { type: 'task.requeued', data: { why: 'answer' } },
  })
  return true
}

/** A run that is still ending settles as cancelled. */
async function stopTask(moving: Moving, taskId: string, by: string): Promise<void> {
  const { tx, record, at } = moving
  const event = { type: 'task.cancelled', data: { by } } as const
  if (await move(moving, taskId, 'cancel_waiting', { reason: { kind: 'cancelled' }, event })) return
  if (await requestCancel(tx, taskId, { now: false, by, at }))
    record({ task: taskId, event: { type: 'task.cancel_requested', data: { now: false, by } } })
}
