import type { TaskPushNotificationConfig } from '@a2a-js/sdk'
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { PawlError } from '../../domain/error.ts'
import type { ListenerView, NewListener } from '../../domain/notification/listener.ts'
import type { ListenerVerbs } from '../../operations/listeners.ts'
import { callerWith } from './call.ts'
import type { PushConfigs } from './parts.ts'

/** The four operations of A2A on where clients want to be told, over the listeners of our tasks. `assertSeen` refuses tasks that the caller may not see. */
export function createPushConfigs(
  listeners: ListenerVerbs,
  assertSeen: (task: string, context: ServerCallContext) => Promise<unknown>,
): PushConfigs {
  return {
    async createTaskPushNotificationConfig(config, context) {
      const caller = callerWith('work', context)
      await assertSeen(config.taskId, context)
      const kept = await refusedAsA2A(() =>
        listeners.setListener(config.taskId, listenerOf(config, context.requestedVersion), caller),
      )
      return configOf(config.taskId, kept)
    },
    async getTaskPushNotificationConfig({ taskId, id }, context) {
      const caller = callerWith('read', context)
      await assertSeen(taskId, context)
      return configOf(taskId, await refusedAsA2A(() => listeners.getListener(taskId, id, caller)))
    },
    async listTaskPushNotificationConfigs({ taskId, pageSize, pageToken }, context) {
      const caller = callerWith('read', context)
      await assertSeen(taskId, context)
      const page = { ...(pageSize > 0 ? { limit: pageSize } : {}), ...(pageToken === '' ? {} : { cursor: pageToken }) }
      const { items, next } = await refusedAsA2A(() => listeners.listListeners(taskId, page, caller))
      return { configs: items.map((item) => configOf(taskId, item)), nextPageToken: next ?? '' }
    },
    async deleteTaskPushNotificationConfig({ taskId, id }, context) {
      const caller = callerWith('work', context)
      await assertSeen(taskId, context)
      await refusedAsA2A(() => listeners.removeListener(taskId, id, caller))
    },
  }
}

/** What a client wants told, as the engine keeps it; also where it comes with a message. */
export function listenerOf(config: TaskPushNotificationConfig, wire: string): NewListener {
  const { id, url, token, authentication } = config
  return {
    url,
    wire,
    ...(id === '' ? {} : { name: id }),
    ...(token === '' ? {} : { token }),
    ...(authentication?.scheme ? { scheme: authentication.scheme } : {}),
    ...(authentication?.credentials ? { credentials: authentication.credentials } : {}),
  }
}

function configOf(taskId: string, { name, url, token = '', scheme, credentials = '' }: ListenerView): TaskPushNotificationConfig {
  return { tenant: '', id: name, taskId, url, token, authentication: scheme === undefined ? undefined : { scheme, credentials } }
}

async function refusedAsA2A<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') throw new TaskNotFoundError(error.message)
    if (error instanceof PawlError && (error.code === 'invalid' || error.code === 'conflict'))
      throw new RequestMalformedError(error.message)
    throw error
  }
}
