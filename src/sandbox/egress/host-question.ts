import { createHash } from 'node:crypto'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { authorityOf, readHost, readPort, splitAuthority } from './host-name.ts'

export interface AnsweredQuestion {
  readonly kind: string
  readonly text: string
  readonly answer?: string | null | undefined
  readonly call?: ExactCall | null | undefined
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

/** What the answer is bound to. Stored beside the question, where no words of an agent come. */
export const hostCall = ({ host, port }: { readonly host: string; readonly port: number }): ExactCall => ({
  tool: 'network',
  inputDigest: createHash('sha256').update(authorityOf(host, port)).digest('hex'),
})

/**
 * The hosts that the answers to a task's questions allow, as rules. The agent may have asked the same in its own name: what counts is that the question is ours, about
 * exactly this host, and that a person answered with exactly these words; and a grant counts for nothing where no rule of `ask` names the host.
 */
export function grantedBy(questions: readonly AnsweredQuestion[]): string[] {
  return questions.flatMap(({ kind, text, answer, call }) => {
    if (kind !== 'permission' || answer?.trim() !== allow) return []
    const parts = splitAuthority(sentence.exec(text)?.[1] ?? '')
    const host = parts && readHost(parts.host)
    const port = readPort(parts?.port ?? '')
    if (!host || port === undefined) return []
    const asked = hostCall({ host: host.name, port })
    return call?.tool === asked.tool && call.inputDigest === asked.inputDigest ? [authorityOf(host.name, port)] : []
  })
}
