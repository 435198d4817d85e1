import { z } from 'zod'
import { QuestionId, TaskId } from '../../../domain/id.ts'
import { AnswerGiven } from '../../../domain/question/question.ts'
import { ShownQuestion } from '../task-shape.ts'
import { defineTool } from '../tool.ts'

export const listQuestions = defineTool({
  name: 'list_questions',
  title: 'List open questions',
  description: 'Lists what agents have asked and nobody has answered yet, of all tasks or of one.',
  rights: ['read'],
  input: z.object({ task: TaskId.optional() }),
  output: z.object({ questions: z.array(ShownQuestion) }),
  hints: { readOnlyHint: true, idempotentHint: true },
  async run({ task }, call) {
    return { questions: await call.runtime.listQuestions({ state: 'pending', task }) }
  },
})

export const answerQuestion = defineTool({
  name: 'answer_question',
  title: 'Answer a question',
  description:
    'Answers a question of an agent, in words or by the numbers of its options; its task goes on. It counts once. A permission is a decision for the person: ask them before you answer one.',
  rights: ['work'],
  input: z.object({ question: QuestionId, ...AnswerGiven.shape }),
  output: z.object({ question: ShownQuestion.extend({ state: z.string(), answer: z.string().nullable() }) }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  async run({ question, ...given }, call) {
    return { question: await call.runtime.answerQuestion(question, given, call.who.caller) }
  },
  inWords: ({ question }) => `Question ${question.id} is answered: ${question.answer}`,
})
