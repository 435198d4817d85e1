import type { QuestionAsked } from '../domain/question/question.ts'
import { authorityOf, readHost, readPort, splitAuthority } from './host-name.ts'

export interface AnsweredQuestion {
  readonly kind: string
  readonly text: string
  readonly answer?: string | null | undefined
}

const allow = 'Allow for this task'
const refuse = 'Refuse'
const sentence = /^May this task connect to ([\x21-\x7e]+)\?$/

/** What a person is asked about a host that a rule of `ask` names. */
export const hostQuestion = ({ host, port }: { readonly host: string; readonly port: number }): QuestionAsked => ({
  kind: 'permission',
  text: `May this task connect to ${authorityOf(host, port)}?`,
  options: [allow, refuse],
})

/**
 * The hosts that the answers to a task's questions allow, as rules. The agent may have asked such a question itself: what counts is that a person was shown exactly this
 * sentence and answered with exactly these words; and a grant counts for nothing where no rule of `ask` names the host.
 */
export function grantedBy(questions: readonly AnsweredQuestion[]): string[] {
  return questions.flatMap(({ kind, text, answer }) => {
    if (kind !== 'permission' || answer?.trim() !== allow) return []
    const parts = splitAuthority(sentence.exec(text)?.[1] ?? '')
    const host = parts && readHost(parts.host)
    const port = readPort(parts?.port ?? '')
    return host && port !== undefined ? [authorityOf(host.name, port)] : []
  })
}
