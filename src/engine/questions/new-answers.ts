import type { Continuation, QuestionRow } from '../../store/tables.ts'
import { goOnTold } from './go-on.ts'
import { decisionTold } from './permission-answers.ts'

/** What the next run is told once nothing is asked any more: every answer of the task, or nothing if no answer is new. */
export function newAnswers(questions: readonly QuestionRow[]): Continuation | undefined {
  const answers = questions
    .filter((question) => question.state === 'answered')
    .map(({ id, kind, text, answer, heard, call }) => {
      const said = answer ?? ''
      const told = call ? decisionTold(said) : kind === 'go_on' ? goOnTold(text, said) : said
      return { questionId: id, question: text, answer: told, heard }
    })
  return answers.some((answer) => !answer.heard) ? { kind: 'answer', answers } : undefined
}
