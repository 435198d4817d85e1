import { asObject } from '../../domain/base/object.ts'
import { messageOf } from '../../domain/error.ts'
import type { Turn } from '../port.ts'
import { text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import type { JsonRpc, Params, RequestId } from '../shared/json-rpc.ts'
import { clean } from '../shared/text.ts'
import { within } from '../shared/within.ts'
import { patchTool, shellTool } from './items.ts'
import { withoutShell } from './shell-line.ts'

/** It took a few milliseconds wherever it was tried. */
const steerMs = 1_000

/** What a request of the program led to, beyond its answer. */
export interface Asking {
  /** The program waits for a person: the questions are stored, and the turn is to end. */
  blocked(): void
  /** What a call is about that was told of before. */
  inputOf(callId: string): unknown
}

/** Answers one request of the program, whatever it is: an unanswered one would hang the turn. */
export async function answerRequest(
  server: JsonRpc,
  turn: Turn,
  asking: Asking,
  request: { id: RequestId; method: string; params: Params },
): Promise<void> {
  const { id, method, params } = request
  try {
    if (method === 'item/tool/requestUserInput') {
      const questions = questionsOf(params)
      const answers = await turn.ask(questions.map(({ asked }) => asked))
      if (answers)
        return server.answer(id, {
          answers: Object.fromEntries(questions.map(({ id }, i) => [id, { answers: [answers[i] ?? ''] }])),
        })
      // Not answered: the interruption that follows takes the request back, and the answer comes with a later turn.
      return asking.blocked()
    }
    const wanted = permissionOf(method, params, asking)
    if (!wanted) return server.refuse(id, `Pawl does not answer ${method}.`)
    const permission = await turn.permit({ tool: wanted.tool, input: harmless(wanted.input) })
    // An answer has no room for words, and the agent must know why: what is said before it is read with it.
    if (!permission.allow && !permission.asked)
      await within(server.request('turn/steer', saying(params, permission.message)), steerMs)
    server.answer(id, permission.allow ? wanted.yes : wanted.no)
    if (!permission.allow && permission.asked) asking.blocked()
  } catch (thrown) {
    server.refuse(id, messageOf(thrown))
  }
}

const saying = ({ threadId, turnId }: Params, message: string): Params => ({
  threadId,
  expectedTurnId: turnId,
  input: [{ type: 'text', text: `<permission_denied>\n${message}\n</permission_denied>`, text_elements: [] }],
})

interface Wanted {
  readonly tool: string
  readonly input: unknown
  readonly yes: Params
  readonly no: Params
}

function permissionOf(method: string, params: Params, asking: Asking): Wanted | undefined {
  const decline = { decision: 'decline' }
  const input = asking.inputOf(text(params.itemId) ?? '')
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return {
        tool: shellTool,
        input: given({
          command: withoutShell(params.command ?? asObject(input)?.command),
          cwd: params.cwd,
          reason: params.reason,
          stdin: params.kind === 'command' ? undefined : params.kind,
        }),
        yes: { decision: 'accept' },
        no: decline,
      }
    case 'item/fileChange/requestApproval':
      return {
        tool: patchTool,
        input: given({ ...asObject(input), grantRoot: params.grantRoot, reason: params.reason }),
        yes: { decision: 'accept' },
        no: decline,
      }
    case 'item/permissions/requestApproval':
      return {
        tool: 'request_permissions',
        input: given({ permissions: params.permissions, cwd: params.cwd, reason: params.reason }),
        yes: { permissions: granted(params.permissions), scope: 'turn' },
        no: { permissions: {}, scope: 'turn' },
      }
    default:
      return undefined
  }
}

/** An empty permission is left out, as the answer has no word for it. */
const granted = (permissions: unknown) => given(asObject(permissions) ?? {})

const given = (values: Params) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null))

function questionsOf(params: Params) {
  const asked = Array.isArray(params.questions) ? params.questions : []
  const questions = asked.map((value) => {
    const question = asObject(value) ?? {}
    const choices = (Array.isArray(question.options) ? question.options : []).map((option) => asObject(option) ?? {})
    const explained = choices.filter((choice) => text(choice.description))
    const lines = [
      text(question.question) || text(question.header) || 'The agent asks for your input.',
      ...explained.map((choice) => `- ${text(choice.label) ?? ''}: ${text(choice.description)}`),
    ]
    const options = choices.map((choice) => clean((text(choice.label) ?? '').slice(0, 1024))).filter((label) => label !== '')
    const asked = { kind: 'free' as const, text: clean(lines.join('\n').slice(0, 16_000)), options: options.slice(0, 20) }
    return { id: text(question.id) ?? '', asked }
  })
  return questions.length > 0
    ? questions
    : [{ id: '', asked: { kind: 'free' as const, text: 'The agent asks for your input.', options: [] } }]
}
