import { type Client, createClient, type FollowOptions } from '../client/index.ts'
import type { Runtime } from '../engine/runtime.ts'

/** A daemon's verbs in the shape of the runtime's own, so that commands need not know where the engine is. */
export function remoteRuntime(
  daemon: { url: string; token: string; certificate?: string | undefined },
  { onState }: Pick<FollowOptions, 'onState'> = {},
): Runtime & Omit<Client, keyof Runtime> {
  const client = createClient({ ...daemon, name: 'cli' })
  return {
    ...client,
    readEvents: async (task, options) => (await client.readEvents(task, options)).items,
    async *followEvents(task, options) {
      for await (const event of client.followEvents(task, { ...options, onState })) yield [event]
    },
    async readFeed(options) {
      const { items, next } = await client.readFeed(options)
      return { events: items, cursor: next ?? '', isLast: next === null }
    },
    // The client goes on by itself: nobody here is told where.
    async *followFeed(options) {
      for await (const event of client.followFeed({ ...options, onState })) yield { events: [event], cursor: '' }
    },
  }
}
