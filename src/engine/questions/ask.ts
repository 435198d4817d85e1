import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { PawlError } from '../../domain/error.ts'
import { newId } from '../../domain/id.ts'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { holdQuestion, insertQuestion, questionsOfTask } from '../../store/questions.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { QuestionRow } from '../../store/tables.ts'
import { lockTask } from '../../store/tasks.ts'
import type { RunServices } from '../base/run-services.ts'
import type { Journal } from '../journal/journal.ts'
import type { GoOnAsked } from './go-on.ts'
import { policyOf, type QuestionParts } from './settings.ts'

type Asked = QuestionAsked | (GoOnAsked & Partial<Pick<QuestionAsked, 'multiSelect'>>)

/**
 * Stores what a run asks: all of it or nothing, durable when it resolves. Refuses if the run is over. With `isHeld` the run waits for the answers: whoever answers first
 * finds it waiting, or does not.
 */
export async function askQuestions(
  { run, task }: TakenRun,
  parts: Pick<RunServices, 'clock' | 'redactor'> & {
    readonly journal: Pick<Journal, 'flush' | 'transact'>
    readonly questions: QuestionParts
  },
  asking: readonly Asked[],
  options: { isHeld: boolean; call?: ExactCall | undefined },
): Promise<string[]> {
  const { journal, clock } = parts
  // What the agent said before it asked stands before the question in the journal.
  await journal.flush()
  const questions = parts.redactor.value(asking).map((question) => ({ ...question, id: newId('question', clock.now()) }))
  const call = parts.redactor.value(options.call)
  const ids = await journal.transact('question.ask', async (tx, record) => {
    const at = new Date(clock.now())
    await lockTask(tx, task.id)
    const asked = await questionsOfTask(tx, task.id)
    const policy = policyOf(task.spec.questions, parts.questions, clock.now())
    const stored: string[] = []
    for (const question of questions) {
      // An agent that was not told whether its question is stored asks it again. The same words about another call, or with other options, ask something else.
      const same = asked.find(
        (earlier) => earlier.run_id === run.id && earlier.state === 'pending' && isSame(earlier, question, options.call),
      )
      if (same && options.isHeld) await holdQuestion(tx, same.id, run.fence)
      stored.push(same?.id ?? question.id)
      if (same) continue
      const whole = { ...question, ...policy, ...options, call, task: task.id, run: run.id, fence: run.fence, at }
      if (!(await insertQuestion(tx, whole))) throw new PawlError('conflict', 'This run is over.')
      record({ task: task.id, run: run.id, fence: run.fence, event: { type: 'question.asked', data: told(question, policy) } })
    }
    return stored
  })
  if (ids.length > 0) parts.questions.tellAsked()
  return ids
}

const isSame = (earlier: QuestionRow, { kind, text, options }: Asked, call: ExactCall | undefined) =>
  earlier.kind === kind &&
  earlier.text === text &&
  canonicalJson([earlier.options, earlier.call?.tool, earlier.call?.inputDigest]) ===
    canonicalJson([options, call?.tool, call?.inputDigest])

const told = (question: Asked & { id: string }, { deadline }: ReturnType<typeof policyOf>) => ({
  questionId: question.id,
  kind: question.kind,
  text: question.text,
  options: question.options,
  ...(question.multiSelect ? { multiSelect: true } : {}),
  ...(deadline ? { deadline: deadline.toISOString() } : {}),
})
