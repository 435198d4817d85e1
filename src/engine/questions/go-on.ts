import type { QuestionKind } from '../../domain/question/question.ts'

/** What a person can choose from; anything else they say is told to the agent, and the task goes on. */
const choices = ['Go on', 'Stop'] as const

export interface GoOnAsked {
  readonly kind: Extract<QuestionKind, 'go_on'>
  readonly text: string
  readonly options: string[]
}

/** The question that Pawl asks about a run that has worked for so long that somebody should look. */
export const goOnQuestion = (text: string): GoOnAsked => ({ kind: 'go_on', text, options: [...choices] })

/** The answer by which the task ends; the one that counts if nobody answers in time. */
export const stopAnswer: string = choices[1]

export const isStop = (answer: string) => /^(?:stop|no|n|cancel|end)[.!]?$/i.test(answer.trim())

/** What the agent is told when it goes on. */
export function goOnTold(question: string, answer: string): string {
  const said = /^go on[.!]?$/i.test(answer.trim()) ? '' : ` They say: ${answer.trim()}`
  return `${question}\nA person wants you to go on.${said} The call was ended when they were asked. Look at what it has done, and do not simply make it again if it will take as long: run it in parts, or in the background with its output in a file.`
}
