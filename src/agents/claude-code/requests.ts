import { asObject } from '../../domain/base/object.ts'
import { messageOf } from '../../domain/error.ts'
import type { QuestionAsked } from '../../domain/question/question.ts'
import type { Turn } from '../port.ts'
import { clean } from '../shared/text.ts'
import { isForTools, type ToolPipe } from './tools.ts'
import { type ControlRequest, textOf } from './translate.ts'

/** The answer to a request of the program, and whether a question was passed on with it. */
export interface Answered {
  readonly reply: object
  /** The tool call that asks; the turn is over when the program has taken the answer in. */
  readonly asked?: string
}

/** Answers whatever the program wants to know: what nobody answers would hang the turn. Never rejects. */
export async function answerRequest(
  request: ControlRequest,
  turn: Pick<Turn, 'ask' | 'permit'>,
  tools: ToolPipe,
): Promise<Answered> {
  if (isForTools(request)) return { reply: answer(request, { mcp_response: await tools.answer(request) }) }
  if (request.subtype !== 'can_use_tool') return { reply: refused(request, `Pawl does not answer ${request.subtype || 'this'}.`) }
  const { fields } = request
  const tool = clean(textOf(fields.tool_name) ?? 'unknown').slice(0, 1024)
  try {
    if (tool === 'AskUserQuestion') return await passOn(request, turn)
    // Whole, however long: a rule must see what the tool will see.
    const permission = await turn.permit({ tool, input: fields.input ?? {} })
    if (permission.allow) return { reply: answer(request, { behavior: 'allow', updatedInput: fields.input ?? {} }) }
    const reply = answer(request, deny(permission.message))
    return permission.asked ? { reply, asked: textOf(fields.tool_use_id) ?? '' } : { reply }
  } catch (thrown) {
    return { reply: answer(request, deny(messageOf(thrown))) }
  }
}

/** The answer to a request that came while no turn was under way. */
export const refuseUnbidden = (request: ControlRequest): object =>
  request.subtype === 'can_use_tool' ? answer(request, deny(noTurn)) : refused(request, noTurn)
const noTurn = 'No turn is under way: nothing may be done now.'

const passedOn =
  'The question was passed on to the user. Stop here and do nothing more: the answer comes as the next message of the user.'

async function passOn(request: ControlRequest, turn: Pick<Turn, 'ask'>): Promise<Answered> {
  const questions = questionsOf(request.fields.input)
  if (questions.length === 0)
    return { reply: answer(request, deny('The question could not be understood; ask it in plain text.')) }
  const answers = await turn.ask(questions.map(({ asked }) => asked))
  if (answers) return { reply: answer(request, { behavior: 'allow', updatedInput: answered(request, questions, answers) }) }
  return { reply: answer(request, deny(passedOn)), asked: textOf(request.fields.tool_use_id) ?? '' }
}

/** The program finds each answer under the very words of its question. */
const answered = ({ fields }: ControlRequest, questions: readonly Passed[], answers: readonly string[]) => ({
  ...asObject(fields.input),
  answers: Object.fromEntries(questions.map(({ words }, index) => [words, answers[index] ?? ''])),
})

const deny = (message: string) => ({ behavior: 'deny', message })
const answer = ({ id }: ControlRequest, response: object) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id: id, response },
})
const refused = ({ id }: ControlRequest, error: string) => ({
  type: 'control_response',
  response: { subtype: 'error', request_id: id, error },
})

const maxTextChars = 16_000
const maxLabelChars = 1024
const maxOptions = 20

/** A question as it is asked, and the words by which the program knows it. */
interface Passed {
  readonly words: string
  readonly asked: QuestionAsked
}

/** Each question of the call with its choices; what they mean stands in the text. */
function questionsOf(input: unknown): Passed[] {
  const asked = asObject(input)?.questions
  return (Array.isArray(asked) ? asked : []).flatMap((value): Passed[] => {
    const question = asObject(value)
    const text = textOf(question?.question)?.trim() || textOf(question?.header)?.trim()
    if (!question || !text) return []
    const choices = (Array.isArray(question.options) ? question.options : []).flatMap((option) => {
      const label = (typeof option === 'string' ? option : textOf(asObject(option)?.label))?.trim()
      return label ? [{ label, means: textOf(asObject(option)?.description)?.trim() }] : []
    })
    const lines = [text, ...choices.flatMap(({ label, means }) => (means ? [`- ${label}: ${means}`] : []))]
    const options = choices.map(({ label }) => clean(label.slice(0, maxLabelChars))).slice(0, maxOptions)
    const asked = { kind: 'free' as const, text: clean(lines.join('\n').slice(0, maxTextChars)), options }
    const words = textOf(question.question) ?? text
    return [{ words, asked: question.multiSelect === true ? { ...asked, multiSelect: true } : asked }]
  })
}
