import { randomUUID } from 'node:crypto'
import type { Message, SendMessageRequest } from '@a2a-js/sdk'
import { UnsupportedOperationError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import { invalid } from '../../domain/error.ts'
import { distinctNames } from '../../domain/files/file-name.ts'
import { SessionId } from '../../domain/id.ts'
import type { NewListener } from '../../domain/notification/listener.ts'
import { isTerminal, stageOf } from '../../domain/task/stage.ts'
import { NewTask, type TaskView } from '../../domain/view/view.ts'
import type { Caller } from '../../operations/runtime.ts'
import { taskHere } from './access.ts'
import { callerWith, traceIn } from './call.ts'
import { type Incoming, keyPrefix, readMessage } from './incoming.ts'
import type { A2AParts } from './parts.ts'
import { listenerOf } from './push-configs.ts'
import { byAgent, textPart } from './say.ts'

/** What a message came to: the task that it is for, or words that answer it and nothing else. */
export type Sent =
  | {
      readonly task: string
      readonly caller: Caller
      /** As it is at its beginning, if it was made for this very message. */
      readonly made?: TaskView | undefined
    }
  | { readonly reply: Message }

/** Said of a message in which there is nothing to do. */
const noText = 'Error: message contained no text content.'

/** Takes a message in. When it resolves, what it asks for is durable; the same message sent again comes to the same. */
export async function send(parts: A2AParts, request: SendMessageRequest, context: ServerCallContext): Promise<Sent> {
  const message = readMessage(request)
  const caller = callerWith(message.taskId === undefined ? 'create' : 'work', context)
  if (message.text === '')
    return { reply: byAgent({ id: randomUUID(), parts: [textPart(noText)], task: { id: '', session: message.contextId ?? '' } }) }
  const plan = message.taskId === undefined ? parts.planMessage?.(message.messageId) : undefined
  if (plan && 'refuse' in plan) throw new UnsupportedOperationError(plan.refuse)
  if (plan && 'reply' in plan)
    return {
      reply: byAgent({ id: randomUUID(), parts: [textPart(plan.reply)], task: { id: '', session: message.contextId ?? '' } }),
    }
  const wanted = request.configuration?.taskPushNotificationConfig
  const push = wanted && parts.pushConfigs()
  // A new task has it from its first event on; the same message sent again finds it there.
  const listeners = wanted ? [listenerOf(wanted, context.requestedVersion)] : []
  if (message.taskId === undefined) {
    const { task, created } = await ask(parts, message, { caller, trace: traceIn(context), listeners, more: plan?.task })
    return { task: task.id, caller, made: created ? task : undefined }
  }
  const task = await goOn(parts, message, caller)
  if (push) await push.createTaskPushNotificationConfig({ ...wanted, taskId: task }, context)
  return { task, caller }
}

interface Asking {
  readonly caller: Caller
  readonly trace: TraceContext | undefined
  readonly listeners: readonly NewListener[]
  /** Settings that a plan adds. */
  readonly more: Partial<NewTask> | undefined
}

/** The same message sent again is the same; but where ids plan what happens, different messages share an id. */
const keyOf = ({ planMessage }: A2AParts, { messageId }: Incoming) => (planMessage ? undefined : keyPrefix + messageId)

/** A new task, in the conversation that the message names or in one of its own. */
async function ask(
  parts: A2AParts,
  message: Incoming,
  { caller, trace, listeners, more }: Asking,
): Promise<{ readonly task: TaskView; readonly created: boolean }> {
  const { runtime } = parts
  const { contextId, wishes } = message
  if (contextId !== undefined) assertContext(contextId)
  if (parts.agent !== undefined && wishes.agent !== undefined && wishes.agent !== parts.agent)
    throw invalid(`This is the endpoint of the agent "${parts.agent}"; for "${wishes.agent}" use its own, or the daemon's.`)
  const agent = parts.agent ?? wishes.agent
  const attachments = await handIn(parts, message, caller)
  const wanted = NewTask.safeParse({
    ...wishes.pawl,
    prompt: message.text,
    ...(agent === undefined ? {} : { agent }),
    ...(contextId === undefined ? {} : { session: contextId }),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...more,
  })
  if (!wanted.success) throw invalid(`The message cannot be taken: ${wanted.error.issues[0]?.message}`)
  return runtime.createTask(wanted.data, { ...caller, trace, idempotencyKey: keyOf(parts, message), listeners })
}

/** A conversation is begun by us alone: what is no id of ours is refused here, and one that nobody knows where the task is made. No other is put in its place. */
function assertContext(contextId: string): void {
  if (!SessionId.safeParse(contextId).success)
    throw invalid(`There is no context ${contextId.slice(0, 100)} here; leave contextId out to begin a new one.`)
}

/** A message to a task that is there: the answer to what it asks, or that it may go on now that its agent can log in. */
async function goOn(parts: A2AParts, message: Incoming, caller: Caller): Promise<string> {
  const { runtime, said } = parts
  const task = await taskHere(parts, message.taskId!)
  if (message.contextId !== undefined && message.contextId !== task.session)
    throw invalid(`Task ${task.id} is of the context ${task.session}, not of ${message.contextId.slice(0, 100)}.`)
  const idempotencyKey = keyOf(parts, message)
  if (idempotencyKey !== undefined && (await said.taskOfMessage(idempotencyKey, caller)) === task.id) return task.id
  if (message.files.length > 0)
    throw new UnsupportedOperationError('An answer takes text alone; hand files in with a new message in the same context.')
  const stage = stageOf(task)
  if (stage === 'auth_required') await runtime.retryTask(task.id, { ...caller, idempotencyKey })
  else await runtime.answerQuestion(questionOf(task, message), message.text, { ...caller, idempotencyKey })
  return task.id
}

function questionOf(task: TaskView, { wishes }: Incoming): string {
  const pending = task.questions.filter(({ state }) => state === 'pending')
  const asked = wishes.question === undefined ? pending[0] : pending.find(({ id }) => id === wishes.question)
  if (asked) return asked.id
  const stage = stageOf(task)
  if (isTerminal(stage))
    throw new UnsupportedOperationError(
      `Task ${task.id} has ended (${task.state}) and takes no more messages; send one without taskId in the context ${task.session}.`,
    )
  throw new UnsupportedOperationError(
    task.state === 'review'
      ? `Task ${task.id} waits for a person to accept its work: "pawl accept ${task.id}" or "pawl reject ${task.id}".`
      : `Task ${task.id} asks nothing right now; wait for it, or send a message without taskId in the context ${task.session}.`,
  )
}

async function handIn({ runtime }: A2AParts, { files }: Incoming, caller: Caller): Promise<string[]> {
  const names = distinctNames(files.map(({ name }) => name))
  const ids: string[] = []
  for (const [n, { bytes }] of files.entries()) {
    const content = (async function* () {
      yield bytes
    })()
    ids.push((await runtime.addUpload({ name: names[n]!, content, size: bytes.length }, caller)).id)
  }
  return ids
}
