import { isEnded } from '../../domain/task/task.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { chosen } from '../terminal/ask.ts'
import { formatState, shortId } from '../text/format.ts'
import { askedBy } from '../text/outcome.ts'
import { oneLine } from '../text/plain.ts'
import type { Item, Mode } from './lines.ts'

type Answering = Extract<Mode, { kind: 'answer' }>

/** What there is to answer about a row, if anything. */
export async function answerFor(runtime: Pick<Runtime, 'getTask'>, item: Item): Promise<Answering | undefined> {
  const { question, summary } = item
  if (question)
    return {
      kind: 'answer',
      title: askedBy(question),
      text: question.text,
      options: question.options,
      typed: '',
    }
  if (summary?.state !== 'review') return undefined
  const task = await runtime.getTask(item.task)
  return {
    kind: 'answer',
    title: `Review of ${shortId(task.id)}: 1 accepts the work, words send it back with them.`,
    text: task.result?.summary ?? task.result?.text ?? task.prompt,
    options: ['accept the work'],
    typed: '',
  }
}

/** Sends what was typed, and says what came of it. */
export async function giveAnswer(
  runtime: Pick<Runtime, 'answerQuestion' | 'acceptTask' | 'rejectTask'>,
  { question, task }: Item,
  typed: string,
): Promise<string> {
  const text = typed.trim()
  if (question) {
    await runtime.answerQuestion(question.id, { ...chosen(question, text), digest: question.digest }, { by: 'cli' })
    return `Answered ${shortId(task)}.`
  }
  if (text === '1') {
    await runtime.acceptTask(task, { by: 'cli' })
    return `Accepted the work of ${shortId(task)}.`
  }
  await runtime.rejectTask(task, { by: 'cli', comment: text })
  return `Sent ${shortId(task)} back.`
}

export const cancelText = ({ task, summary }: Item) =>
  `Cancel ${shortId(task)}${summary ? ` "${oneLine(summary.name ?? summary.prompt, 40)}"` : ''}? y: yes, any other key: no`

export async function cancelIt(runtime: Pick<Runtime, 'cancelTask'>, { task }: Item): Promise<string> {
  const { state } = await runtime.cancelTask(task, { by: 'cli', now: false })
  return isEnded(state) ? `${shortId(task)} is ${formatState(state)}.` : `${shortId(task)} is being stopped.`
}

/** Again, or on: what waits for a time need not. */
export async function tryAgain(runtime: Pick<Runtime, 'retryTask' | 'resumeTask'>, { task, summary }: Item): Promise<string> {
  if (summary?.state === 'parked') await runtime.resumeTask(task, { by: 'cli' })
  else await runtime.retryTask(task, { by: 'cli', fresh: false })
  return `${shortId(task)} is queued again.`
}
