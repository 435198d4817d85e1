import type { CreateElicitationRequest, PermissionOption, PermissionOptionKind } from '@agentclientprotocol/sdk'
import { visible, visibleExactly } from '../../domain/base/visible.ts'
import type { AnswerGiven } from '../../domain/question/question.ts'
import type { QuestionView } from '../../domain/view/view.ts'
import type { Editor } from './editor.ts'
import { shownCall } from './tool-call.ts'

/** What came of asking: an answer, a wish to stop, or nothing, and then the question stays open. */
export type Reply = { readonly answer: AnswerGiven } | { readonly stop: true } | undefined

export interface Asking {
  readonly session: string
  readonly folder: string
  /** The call that a permission is about, if the editor knows it. */
  readonly callId: string | undefined
  readonly signal: AbortSignal
}

/** Can the editor's user be asked this while the turn goes on? */
export const isAskable = (question: QuestionView, editor: Editor) =>
  (question.kind === 'permission' && question.options.length > 0) || editor.hasForms

export async function ask(editor: Editor, question: QuestionView, asking: Asking): Promise<Reply> {
  return question.kind === 'permission' && question.options.length > 0
    ? permission(editor, question, asking)
    : form(editor, question, asking)
}

async function permission(editor: Editor, question: QuestionView, asking: Asking): Promise<Reply> {
  const { session, folder, callId, signal } = asking
  const { name, kind, locations, content } = shownCall(question.call?.tool ?? 'tool', inputOf(question), folder)
  // Editors draw what they get: what somebody approves must be what is there.
  const text = visibleExactly(question.text)
  const told = { kind, name, locations, content: [...content, { type: 'content' as const, content: textOf(text) }] }
  const toolCallId = callId ?? question.id
  const title = text.split('\n')[0]!.slice(0, 200)
  // A call that was not told of yet is told of with what is asked about it.
  if (callId === undefined) editor.update(session, { sessionUpdate: 'tool_call', toolCallId, title, status: 'pending', ...told })
  const options = question.options.map(
    (option): PermissionOption => ({
      optionId: option,
      name: visible(option),
      kind: kindOf(option),
    }),
  )
  const request = { sessionId: session, toolCall: { toolCallId, title, ...told }, options }
  const outcome = (await editor.permit(request, signal))?.outcome
  if (!outcome || signal.aborted) return undefined
  if (outcome.outcome === 'cancelled') return { stop: true }
  const number = question.options.indexOf(outcome.optionId) + 1
  if (callId === undefined) {
    const isAllowed = kindOf(outcome.optionId).startsWith('allow')
    editor.update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: isAllowed ? 'completed' : 'failed' })
  }
  return number === 0 ? undefined : { answer: { options: [number], digest: question.digest } }
}

async function form(editor: Editor, question: QuestionView, { session, signal }: Asking): Promise<Reply> {
  const reply = await editor.fill(formOf(question, session), signal)
  if (!reply || signal.aborted || reply.action !== 'accept') return undefined
  const content = ('content' in reply ? reply.content : undefined) ?? {}
  const { choice, answer } = content as { choice?: unknown; answer?: unknown }
  const chosen = [choice].flat().flatMap((one) => (typeof one === 'string' ? question.options.indexOf(one) + 1 : 0))
  const options = chosen.filter((number) => number > 0)
  const words = typeof answer === 'string' && answer.trim() !== '' ? answer : undefined
  if (options.length === 0 && words === undefined) return undefined
  return {
    answer: {
      digest: question.digest,
      ...(words === undefined ? {} : { answer: words }),
      ...(options.length > 0 ? { options } : {}),
    },
  }
}

function formOf({ text, options, multiSelect }: QuestionView, sessionId: string): CreateElicitationRequest {
  const titled = options.map((option) => ({ const: option, title: visible(option) }))
  const choice = multiSelect
    ? { type: 'array' as const, title: 'Choose', items: { anyOf: titled } }
    : { type: 'string' as const, title: 'Choose', oneOf: titled }
  const hasOptions = options.length > 0
  const answer = { type: 'string' as const, title: hasOptions ? 'Or in your own words' : 'Answer' }
  return {
    mode: 'form',
    sessionId,
    message: visible(text),
    requestedSchema: {
      type: 'object',
      properties: { ...(hasOptions ? { choice } : {}), answer },
      ...(hasOptions ? {} : { required: ['answer'] }),
    },
  }
}

/** A question in words, for an editor that has no forms: the next prompt answers it. */
export const questionInWords = ({ text, options }: Pick<QuestionView, 'text' | 'options'>) =>
  visible([text, ...options.map((option, n) => `${n + 1}. ${option}`)].join('\n'))

/** The next prompt as an answer: by the number or the words of an option, or in the user's own. */
export function answerInWords(question: QuestionView, said: string): AnswerGiven {
  const words = said.trim()
  const number = /^\d{1,2}\.?$/.test(words) ? Number.parseInt(words, 10) : question.options.indexOf(words) + 1
  const isOption = number >= 1 && number <= question.options.length
  return { digest: question.digest, ...(isOption ? { options: [number] } : { answer: said }) }
}

const textOf = (text: string) => ({ type: 'text' as const, text })

function inputOf({ call }: QuestionView): unknown {
  if (call?.input === undefined) return {}
  try {
    return JSON.parse(call.input) as unknown
  } catch {
    // Only the beginning of a very long one is kept.
    return {}
  }
}

/** Which of the four kinds an option is, so that an editor can give it its key and colour; the words are the option's own. */
function kindOf(option: string): PermissionOptionKind {
  const isLasting = /\b(always|task|session|forever)\b/i.test(option)
  if (/\b(deny|reject|refuse|no|never)\b/i.test(option)) return isLasting ? 'reject_always' : 'reject_once'
  return isLasting ? 'allow_always' : 'allow_once'
}
