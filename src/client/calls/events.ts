import type { Event } from '../../domain/event/event.ts'
import type { Page } from '../../domain/view/view.ts'
import { type FollowFeedOptions, type FollowOptions, followEvents, followFeed } from '../transport/follow.ts'
import { api, taskPath, type Wire } from '../transport/wire.ts'

/** What happened, and what happens. */
export interface EventCalls {
  readEvents(task: string, options?: { after?: number | undefined; limit?: number | undefined }): Promise<Page<Event>>
  followEvents(task: string, options?: FollowOptions): AsyncIterable<Event>
  /** A page of the events of all tasks, oldest first. */
  readFeed(options?: Pick<FollowFeedOptions, 'after' | 'task' | 'agent' | 'types'> & { limit?: number }): Promise<Page<Event>>
  followFeed(options?: FollowFeedOptions): AsyncIterable<Event>
}

export const eventCalls = ({ get, either, transport }: Wire): EventCalls => ({
  readEvents: (task, asked = {}) => get(`${taskPath(task)}/events`, asked),
  followEvents(task, asked = {}) {
    return followEvents(transport, `${taskPath(task)}/events`, { ...asked, signal: either(asked.signal) })
  },
  readFeed: ({ types, ...asked } = {}) => get(`${api}/events`, { ...asked, type: types?.join(',') }),
  followFeed(asked = {}) {
    return followFeed(transport, `${api}/events`, { ...asked, signal: either(asked.signal) })
  },
})
