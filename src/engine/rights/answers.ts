import type { QuestionRow } from '../../store/tables.ts'

export type PermissionAnswer = Pick<QuestionRow, 'kind' | 'text' | 'state' | 'answer' | 'heard'>

/** What a person can choose from; anything else they say is a no, with a reason. */
export const choices = ['Allow once', 'Allow for this task', 'Deny'] as const

export interface GivenAnswer {
  readonly allow: boolean
  /** The person's own words, if they chose none of ours. */
  readonly said?: string | undefined
}

/** The answers of people to the permissions that a task asked for. One that counts once is gone when it was taken. */
export interface Answers {
  take(question: string): GivenAnswer | undefined
}

export function answersTo(questions: readonly PermissionAnswer[]): Answers {
  const always = new Map<string, GivenAnswer>()
  const once = new Map<string, GivenAnswer>()
  for (const { kind, text, state, answer, heard } of questions) {
    if (kind !== 'permission' || state !== 'answered' || answer === null) continue
    const { isAlways, ...given } = read(answer)
    if (isAlways) always.set(text, given)
    // An earlier run has worked with it already.
    else if (!heard) once.set(text, given)
  }
  return {
    take(question) {
      const given = once.get(question) ?? always.get(question)
      once.delete(question)
      return given
    },
  }
}

function read(answer: string): GivenAnswer & { isAlways: boolean } {
  const said = answer.trim().toLowerCase().replace(/[.!]$/, '')
  if (said === 'allow for this task' || said === 'always') return { allow: true, isAlways: true }
  if (said === 'allow once' || said === 'allow' || said === 'yes' || said === 'y') return { allow: true, isAlways: false }
  // Who says no means the whole task.
  return { allow: false, isAlways: true, ...(said === 'deny' || said === 'no' || said === 'n' ? {} : { said: answer.trim() }) }
}
