import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  MissingRequiredClientCapabilityError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Call } from './call.ts'
import { detailedTask } from './mcp-task.ts'
import { taskUri } from './resources.ts'
import { tasksExtension } from './task-methods.ts'

/**
 * A request to be told of tasks by `notifications/tasks`. The library knows no such news, so each task is followed as its resource, and what the library
 * says of that resource is put into the words that were asked for.
 */
export interface TaskNews {
  /** The request as the library knows it. */
  readonly request: JSONRPCRequest
  /** What is sent in the place of a message of the library's; one after the other, in its order. */
  translate(message: JSONRPCMessage): Promise<readonly JSONRPCMessage[]>
}

const mostTasks = 1_000
const Filter = z.looseObject({
  taskIds: z.array(z.string()).max(mostTasks, `at most ${mostTasks} tasks can be followed at once`),
  resourceSubscriptions: z.array(z.string()).optional(),
})
const Listen = z.looseObject({
  method: z.literal('subscriptions/listen'),
  id: z.union([z.string(), z.number()]),
  params: z.looseObject({
    notifications: z.looseObject({ taskIds: z.unknown() }),
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
})

/** Undefined for a message that asks for no news of tasks. */
export function taskNewsFor(
  message: unknown,
  call: Pick<Call, 'runtime' | 'who'>,
): TaskNews | { readonly refused: JSONRPCErrorResponse } | undefined {
  const parsed = Listen.safeParse(message)
  if (!parsed.success || parsed.data.params.notifications.taskIds === undefined) return undefined
  const { id, params } = parsed.data
  const refuse = (error: JSONRPCErrorResponse['error']) => ({ refused: { jsonrpc: '2.0' as const, id, error } })
  const declared = params._meta?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  if (declared?.extensions?.[tasksExtension] === undefined) {
    const {
      code,
      message: said,
      data,
    } = new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    })
    return refuse({ code, message: said, data })
  }
  const filter = Filter.safeParse(params.notifications)
  if (!filter.success)
    return refuse({ code: ProtocolErrorCode.InvalidParams, message: `taskIds: ${z.prettifyError(filter.error)}` })

  const { taskIds, resourceSubscriptions: asked = [], ...others } = filter.data
  const tasks = new Map(taskIds.map((task) => [taskUri(task), task]))
  const said = new Map<string, string>()
  let turn: Promise<unknown> = Promise.resolve()
  return {
    request: {
      ...(message as JSONRPCRequest),
      params: { ...params, notifications: { ...others, resourceSubscriptions: [...new Set([...asked, ...tasks.keys()])] } },
    },
    translate(told) {
      const work = turn.then(() => inTheirWords(told))
      turn = work.catch(() => undefined)
      return work
    },
  }

  async function inTheirWords(told: JSONRPCMessage): Promise<readonly JSONRPCMessage[]> {
    if (!('method' in told) || told.params === undefined) return [told]
    const meta = told.params._meta
    if (told.method === 'notifications/subscriptions/acknowledged') {
      const { resourceSubscriptions: honored = [], ...rest } = told.params.notifications as { resourceSubscriptions?: string[] }
      const now = await Promise.all(honored.flatMap((uri) => (tasks.has(uri) ? [newsOf(tasks.get(uri)!, meta)] : [])))
      const followed = now.flatMap((news) => (news ? [news.params.taskId] : []))
      const kept = honored.filter((uri) => asked.includes(uri))
      const notifications = {
        ...rest,
        ...(kept.length > 0 ? { resourceSubscriptions: kept } : {}),
        ...(followed.length > 0 ? { taskIds: followed } : {}),
      }
      // How each is now comes at once: it may have ended before anybody listened.
      return [{ ...told, params: { ...told.params, notifications } }, ...now.flatMap((news) => news ?? [])]
    }
    if (told.method !== 'notifications/resources/updated') return [told]
    const uri = String(told.params.uri)
    const task = tasks.get(uri)
    const news = task === undefined ? undefined : await newsOf(task, meta)
    return [...(task === undefined || asked.includes(uri) ? [told] : []), ...(news ? [news] : [])]
  }

  /** Undefined if there is no such task, or if nothing of it is new. */
  async function newsOf(task: string, meta: unknown) {
    // One that cannot be read now is told of when it changes again; whoever must know asks by tasks/get.
    const found = await call.runtime.getTask(task).catch(() => undefined)
    if (!found) return undefined
    const detailed = detailedTask(found, call)
    const text = JSON.stringify({ ...detailed, lastUpdatedAt: '' })
    if (said.get(task) === text) return undefined
    said.set(task, text)
    return {
      jsonrpc: '2.0' as const,
      method: 'notifications/tasks',
      params: { ...detailed, _meta: meta as Record<string, unknown> },
    }
  }
}

/** A stream of events with each of its messages translated. */
export function translated(response: Response, { translate }: TaskNews): Response {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
  let rest = ''
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          const data = /^data: (.*)$/m.exec(frame)?.[1]
          const messages = data === undefined ? undefined : await translate(JSON.parse(data) as JSONRPCMessage)
          const written = messages?.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('')
          controller.enqueue(encoder.encode(written ?? `${frame}\n\n`))
        }
      },
    }),
  )
  return new Response(body, { status: response.status, headers: response.headers })
}
