import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { McpRuntime } from './call.ts'
import { taskUri } from './resources.ts'

/** What has changed is told at most so often: one who follows a busy agent reads it again, not each of its words. */
const gatherMs = 200
const againMs = 1_000

/**
 * Tells that resources have changed, from the feed of all events. The feed is read while somebody listens and not otherwise; it is the same for all.
 */
export function createNews({
  runtime,
  log,
}: {
  runtime: Pick<McpRuntime, 'followFeed'>
  log: Log
}): ServerEventBus & { stop(): void } {
  const listeners = new Set<(event: ServerEvent) => void>()
  let following: AbortController | undefined
  let changed = new Set<string>()
  let hasNew = false
  let timer: NodeJS.Timeout | undefined

  const publish = (event: ServerEvent) => {
    for (const listener of listeners) listener(event)
  }
  const flush = () => {
    timer = undefined
    const uris = changed
    changed = new Set()
    if (hasNew) publish({ kind: 'resources_list_changed' })
    hasNew = false
    for (const uri of uris) publish({ kind: 'resource_updated', uri })
  }
  const note = (event: Event) => {
    for (const uri of urisOf(event)) changed.add(uri)
    if (event.type === 'task.queued') hasNew = true
    timer ??= setTimeout(flush, gatherMs)
  }
  const follow = async ({ signal }: AbortController) => {
    while (!signal.aborted) {
      try {
        for await (const { events } of runtime.followFeed({ signal })) for (const event of events) note(event)
      } catch (error) {
        if (signal.aborted) return
        log.warn('what changed is not told to MCP clients for a moment', { error: messageOf(error) })
        await new Promise((resolve) => setTimeout(resolve, againMs))
      }
    }
  }
  const rest = () => {
    following?.abort()
    following = undefined
    clearTimeout(timer)
    timer = undefined
    changed.clear()
  }

  return {
    publish,
    subscribe(listener) {
      listeners.add(listener)
      if (!following) {
        following = new AbortController()
        void follow(following)
      }
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) rest()
      }
    },
    stop() {
      listeners.clear()
      rest()
    },
  }
}

function urisOf({ task, type }: Event): string[] {
  const uris = [taskUri(task), taskUri(task, 'log')]
  const ends = type.startsWith('task.') && isEnded(type.slice('task.'.length) as Parameters<typeof isEnded>[0])
  if (ends || type === 'task.review') uris.push(taskUri(task, 'result'), taskUri(task, 'diff'))
  if (type.startsWith('question.')) uris.push('pawl://questions')
  return uris
}
