import type { AnswerGiven } from '../../domain/question/question.ts'
import type { Page, QuestionView } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** What only somebody else can decide. */
export interface QuestionCalls {
  listQuestions(filter?: {
    state?: QuestionView['state'] | undefined
    task?: string | undefined
    since?: string | undefined
  }): Promise<QuestionView[]>
  getQuestion(id: string): Promise<QuestionView>
  /** In words, or by the numbers of options; with a digest it is for exactly what was shown. */
  answerQuestion(id: string, answer: string | AnswerGiven): Promise<QuestionView>
}

export const questionCalls = ({ get, post }: Wire): QuestionCalls => ({
  listQuestions: async (filter = {}) => (await get<Page<QuestionView>>(`${api}/questions`, filter)).items,
  getQuestion: (id) => get(questionPath(id)),
  answerQuestion: (id, answer) => post(`${questionPath(id)}/answer`, typeof answer === 'string' ? { answer } : answer),
})

const questionPath = (id: string) => `${api}/questions/${encodeURIComponent(id)}`
