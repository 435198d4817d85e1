import { asObject, type Fields } from '../../domain/base/object.ts'
import { messageOf } from '../../domain/error.ts'
import type { Turn } from '../port.ts'
import { list } from '../shared/fields.ts'
import type { JsonRpc, Params, RequestId } from '../shared/json-rpc.ts'
import { askForm } from './elicitation.ts'
import type { Hearing } from './hearing.ts'

/** What a request of the program led to, beyond its answer. */
export interface Asking {
  readonly turn: Turn
  readonly hearing: Hearing
  /** The program waits for a person: the questions are stored, and the turn is to end. */
  blocked(): void
  /** It was not let, for this reason; the answer has no room for it. */
  denied(message: string): void
  /** What serves the client's files and terminals, where somebody does. */
  attend?: ((asking: Asking, request: Request) => Promise<void>) | undefined
}

export interface Request {
  readonly id: RequestId
  readonly method: string
  readonly params: Params
}

const cancelled = { outcome: { outcome: 'cancelled' } }

/** Answers one request of the program, whatever it is: an unanswered one would hang the turn. */
export async function answerRequest(rpc: JsonRpc, asking: Asking, request: Request): Promise<void> {
  const { id, method, params } = request
  try {
    if (method === 'session/request_permission') return await answerPermission(rpc, asking, id, params)
    if (method === 'elicitation/create') return await answerForm(rpc, asking, id, params)
    if (asking.attend && /^(fs|terminal)\//.test(method)) return await asking.attend(asking, request)
    rpc.refuse(id, `Pawl does not answer ${method}.`)
  } catch (thrown) {
    rpc.refuse(id, messageOf(thrown), -32603)
  }
}

async function answerPermission(rpc: JsonRpc, asking: Asking, id: RequestId, params: Params): Promise<void> {
  const wanted = await asking.hearing.asked(asObject(params.toolCall) ?? {})
  const options = list(params.options).flatMap<Fields>((option) => asObject(option) ?? [])
  const permission = await asking.turn.permit(wanted)
  if (permission.allow) {
    const allow = optionOf(options, 'allow_once')
    if (allow !== undefined) return rpc.answer(id, selected(allow))
    // What is allowed for always is not asked about again, and the next call may be another matter.
    asking.denied('The program offers no way to allow this once only, and Pawl allows nothing for always.')
  } else if (permission.asked) {
    rpc.answer(id, cancelled)
    return asking.blocked()
  } else {
    asking.denied(permission.message)
  }
  const reject = optionOf(options, 'reject_once') ?? optionOf(options, 'reject_always')
  rpc.answer(id, reject === undefined ? cancelled : selected(reject))
}

/** The id as it came: it may be anything, and need not be a text that we would store. */
const optionOf = (options: readonly Fields[], kind: string): string | undefined => {
  const found = options.find((option) => option.kind === kind)?.optionId
  return typeof found === 'string' ? found : undefined
}
const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

async function answerForm(rpc: JsonRpc, asking: Asking, id: RequestId, params: Params): Promise<void> {
  const form = askForm(params)
  if (!form) return rpc.answer(id, { action: 'decline' })
  await asking.hearing.pause()
  const answers = await asking.turn.ask(form.questions)
  if (answers) return rpc.answer(id, { action: 'accept', content: form.content(answers) })
  // Not answered: the answer comes with a later turn.
  rpc.answer(id, { action: 'cancel' })
  asking.blocked()
}
