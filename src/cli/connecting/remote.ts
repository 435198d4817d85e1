import { type Client, createClient, type FollowOptions } from '../../client/index.ts'
import { joined } from '../../domain/base/lines-of.ts'
import { notFound, PawlError } from '../../domain/error.ts'
import type { Runtime } from '../../operations/runtime.ts'

/** A daemon's verbs in the shape of the runtime's own, so that commands need not know where the engine is. */
export function remoteRuntime(
  daemon: { url: string; token: string; certificate?: string | undefined },
  { onState, patienceMs, name = 'cli' }: Pick<FollowOptions, 'onState' | 'patienceMs'> & { name?: string | undefined } = {},
): Runtime & Omit<Client, keyof Runtime> {
  const client = createClient({ ...daemon, name })
  return {
    ...client,
    async addUpload({ name, content }) {
      const pieces: Uint8Array[] = []
      for await (const piece of content) pieces.push(piece)
      return client.addUpload({ name, content: Uint8Array.from(Buffer.concat(pieces)) })
    },
    async readArtifact(task, id) {
      const artifact = (await client.listArtifacts(task)).find((one) => one.id === id)
      if (!artifact) throw notFound(`Task ${task} has left no file ${id}.`)
      const bytes = await client.readArtifact(task, id)
      return {
        artifact,
        content: {
          size: bytes.length,
          bytes: async function* () {
            yield bytes
          },
          close: async () => undefined,
        },
      }
    },
    readEvents: async (task, options) => (await client.readEvents(task, options)).items,
    async *followEvents(task, options) {
      for await (const event of client.followEvents(task, { ...options, onState, patienceMs })) yield [event]
    },
    async readFeed(options) {
      const { items, next } = await client.readFeed(options)
      return { events: items, cursor: next ?? '', isLast: next === null }
    },
    async openRunLog() {
      throw new PawlError('unsupported', 'The raw log of a daemon is read in pieces: pawl logs --raw.')
    },
    exportTasks: (options) => client.exportTasks(options),
    importTasks: async (lines) => client.importTasks(await joined(lines, '\n')),
    async findBackup(name) {
      throw new PawlError('unsupported', `The backup ${name} is a file of the daemon; look into its folder of backups.`)
    },
    // The client goes on by itself: nobody here is told where.
    async *followFeed(options) {
      const opened = Promise.withResolvers<void>()
      const events = client.followFeed({ ...options, onState, onOpen: opened.resolve })[Symbol.asyncIterator]()
      let next = events.next()
      await Promise.race([opened.promise, next])
      yield { events: [], cursor: '' }
      for (;;) {
        const { done, value } = await next
        if (done) return
        yield { events: [value], cursor: '' }
        next = events.next()
      }
    },
  }
}
