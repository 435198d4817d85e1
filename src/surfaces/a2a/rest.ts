import {
  A2A_CONTENT_TYPE,
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  type ListTasksResponse,
  Message,
  SendMessageRequest,
  type StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  taskStateFromJSON,
} from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { isObject } from '../../domain/base/object.ts'
import type { MountedCall } from '../mount.ts'
import { assertReadable } from './body.ts'
import { framesOf, textOf } from './frames.ts'
import { restError, restErrorBody } from './rest-errors.ts'
import { callOver, extensionHeaders, versionIn } from './service-parameters.ts'
import { assertVersion } from './versions.ts'

export type RestOperation = keyof ReturnType<typeof restOf>

interface Asked {
  readonly call: MountedCall
  readonly context: ServerCallContext
  readonly query: URLSearchParams
}

/** The operations as HTTP+JSON has them, by name; which path leads to which is the mount's. */
export function restOf(handler: A2ARequestHandler) {
  const tenant = ''
  const operation = (work: (asked: Asked) => Promise<Response>) => async (call: MountedCall) => {
    try {
      const version = versionIn(call.request)
      const context = callOver(call, version ?? '1.0')
      if (version !== undefined) assertVersion(version, 'HTTP+JSON')
      return await work({ call, context, query: new URL(call.request.url).searchParams })
    } catch (thrown) {
      return restError(thrown)
    }
  }
  const stream = async ({ call, context }: Asked, events: AsyncGenerator<StreamResponse, void, undefined>) => {
    const frames = await framesOf(events, { say: textOf, sayError: restErrorBody })
    return call.stream(frames, extensionHeaders(context))
  }
  const subscribe = operation((asked) =>
    stream(asked, handler.resubscribe({ tenant, id: idIn(asked.call, ':subscribe') }, asked.context)),
  )
  const cancel = operation(async ({ call, context }) => {
    const body = (await bodyOf(call)) as { metadata?: Record<string, unknown> }
    return json(
      context,
      Task.toJSON(await handler.cancelTask({ tenant, id: idIn(call, ':cancel'), metadata: body.metadata }, context)),
    )
  })
  const get = operation(async ({ call, context, query }) => {
    const historyLength = wholeIn(query, 'historyLength')
    return json(context, Task.toJSON(await handler.getTask({ tenant, id: idIn(call), historyLength }, context)))
  })

  return {
    send: operation(async ({ call, context }) => {
      const result = await handler.sendMessage(await messageIn(call), context)
      return json(context, 'messageId' in result ? { message: Message.toJSON(result) } : { task: Task.toJSON(result) })
    }),
    stream: operation(async (asked) => stream(asked, handler.sendMessageStream(await messageIn(asked.call), asked.context))),
    /** What stands after the colon says what is wanted. */
    get: (call: MountedCall) => (call.params.id?.endsWith(':subscribe') ? subscribe(call) : get(call)),
    act: (call: MountedCall) => {
      if (call.params.id?.endsWith(':subscribe')) return subscribe(call)
      if (call.params.id?.endsWith(':cancel')) return cancel(call)
      return operation(async () => {
        throw new RequestMalformedError('A task is asked to :cancel or to :subscribe.')
      })(call)
    },
    list: operation(async ({ context, query }) => {
      const status = query.get('status')
      const includeArtifacts = query.get('includeArtifacts') === 'true'
      const found = await handler.listTasks(
        {
          tenant,
          contextId: query.get('contextId') ?? '',
          status: status ? taskStateFromJSON(/^\d+$/.test(status) ? Number(status) : status) : TaskState.TASK_STATE_UNSPECIFIED,
          pageSize: wholeIn(query, 'pageSize'),
          pageToken: query.get('pageToken') ?? '',
          historyLength: wholeIn(query, 'historyLength'),
          statusTimestampAfter: query.get('statusTimestampAfter') ?? undefined,
          includeArtifacts,
        },
        context,
      )
      return json(context, listed(found, includeArtifacts))
    }),
    extendedCard: operation(async ({ context }) =>
      json(context, AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant }, context))),
    ),
    createPush: operation(async ({ call, context }) => {
      const wanted = TaskPushNotificationConfig.fromJSON({ ...(await bodyOf(call)), taskId: idIn(call) })
      return json(
        context,
        TaskPushNotificationConfig.toJSON(await handler.createTaskPushNotificationConfig(wanted, context)),
        201,
      )
    }),
    listPush: operation(async ({ call, context, query }) => {
      const request = {
        tenant,
        taskId: idIn(call),
        pageSize: wholeIn(query, 'pageSize') ?? 0,
        pageToken: query.get('pageToken') ?? '',
      }
      const found = await handler.listTaskPushNotificationConfigs(request, context)
      return json(context, ListTaskPushNotificationConfigsResponse.toJSON(found))
    }),
    getPush: operation(async ({ call, context }) => {
      const request = { tenant, taskId: idIn(call), id: call.params.config ?? '' }
      return json(context, TaskPushNotificationConfig.toJSON(await handler.getTaskPushNotificationConfig(request, context)))
    }),
    deletePush: operation(async ({ call, context }) => {
      const request = { tenant, taskId: idIn(call), id: call.params.config ?? '' }
      await handler.deleteTaskPushNotificationConfig(request, context)
      return new Response(null, { status: 204, headers: extensionHeaders(context) })
    }),
  }
}

const json = (context: ServerCallContext, body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': A2A_CONTENT_TYPE, ...extensionHeaders(context) } })

const idIn = ({ params }: MountedCall, verb = '') => (params.id ?? '').slice(0, -verb.length || undefined)

/** The cursor is always there, and artifacts exactly if they were asked for. */
function listed({ tasks, nextPageToken, pageSize, totalSize }: ListTasksResponse, includeArtifacts: boolean) {
  const shown = tasks.map((task) => {
    const { artifacts, ...rest } = Task.toJSON(task) as { artifacts?: unknown[] }
    return includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest
  })
  return { tasks: shown, nextPageToken, pageSize, totalSize }
}

const messageIn = async (call: MountedCall) => SendMessageRequest.fromJSON(await bodyOf(call))

async function bodyOf({ request }: MountedCall): Promise<Record<string, unknown>> {
  const text = await request.text()
  if (text.trim() === '') return {}
  try {
    const body: unknown = JSON.parse(text)
    if (isObject(body)) {
      assertReadable(body)
      return body as Record<string, unknown>
    }
    if (body === null) return {}
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new RequestMalformedError('The body must be a JSON object.')
}

function wholeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^-?\d{1,9}$/.test(text)) throw new RequestMalformedError(`${name} must be a whole number.`)
  return Number(text)
}
