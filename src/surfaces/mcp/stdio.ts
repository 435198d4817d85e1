import { randomBytes } from 'node:crypto'
import { createRequestStateCodec, type JSONRPCMessage, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Log } from '../../base/log.ts'
import { localUser } from '../../domain/auth/role.ts'
import { messageOf } from '../../domain/error.ts'
import type { McpRuntime, RunState, Who } from './call.ts'
import { sealTtlSeconds } from './door.ts'
import { createNews } from './news.ts'
import { createPawlServer, type PawlServer } from './server.ts'
import { addSubscriptions } from './sessions.ts'
import { type TaskNews, taskNewsFor } from './task-news.ts'

export interface McpStdioOptions {
  readonly runtime: McpRuntime
  readonly log: Log
  readonly version: string
  /** Where tasks work that name no folder. */
  readonly workspace?: string | undefined
  /** That folder may be a home folder. */
  readonly allowHome?: boolean | undefined
  /** Has a task run here if no daemon would. */
  readonly adopt?: ((task: string) => Promise<void>) | undefined
  /** What goes through the client is sealed with it; one of this process if left out. */
  readonly key?: Uint8Array | undefined
}

/** MCP over standard input and output, for one client, in whichever era it begins. Resolves when the client has gone. */
export function serveMcpStdio(options: McpStdioOptions): { readonly closed: Promise<void>; close(): Promise<void> } {
  const { runtime, log, version, workspace, allowHome, adopt } = options
  const seal = createRequestStateCodec<RunState>({
    key: options.key ?? randomBytes(32),
    ttlSeconds: sealTtlSeconds,
    bind: (ctx) => ctx.mcpReq.method,
  })
  const who: Who = { caller: { by: 'mcp', user: localUser, token: 'home', standing: 'admin' }, standing: 'admin' }
  const news = createNews({ runtime, log })
  const closed = Promise.withResolvers<void>()
  let server: PawlServer | undefined
  let leave: (() => void) | undefined
  const listen = () => {
    // The library passes on what the client has asked to hear, and nothing else.
    leave ??= news.subscribe((event) => {
      const sent =
        event.kind === 'resource_updated' ? server?.sendResourceUpdated({ uri: event.uri }) : server?.sendResourceListChanged()
      sent?.catch(() => undefined)
    })
  }
  const transport = new HeardStdio({
    hear(message) {
      if (!('method' in message) || message.method !== 'subscriptions/listen') return undefined
      listen()
      return taskNewsFor(message, { runtime, who })
    },
  })
  const handle = serveStdio(
    ({ era }) => {
      server = createPawlServer({ runtime, log, version, seal, workspace, allowHome, adopt }, era, () => who)
      if (era === 'legacy') addSubscriptions(server, news)
      server.onclose = () => closed.resolve()
      return server
    },
    { transport, onerror: (error) => log.debug('an MCP message was refused', { error: messageOf(error) }) },
  )
  transport.whenEnded(() => closed.resolve())
  return {
    closed: closed.promise.finally(() => {
      leave?.()
      news.stop()
    }),
    close: () => handle.close(),
  }
}

interface Hearing {
  /** What the message asks to be told of tasks, if it does. */
  hear(message: JSONRPCMessage): ReturnType<typeof taskNewsFor>
}

/** Lets us hear which messages come: some begin what the library does not tell us of, or does not know. */
class HeardStdio extends StdioServerTransport {
  readonly #hearing: Hearing
  readonly #news = new Map<unknown, TaskNews>()
  #end: (() => void) | undefined

  constructor(hearing: Hearing) {
    super()
    this.#hearing = hearing
  }

  whenEnded(end: () => void): void {
    this.#end = end
  }

  override async start(): Promise<void> {
    const { onmessage, onclose } = this
    this.onmessage = (message) => {
      const news = this.#hearing.hear(message)
      if (news && 'refused' in news) return void super.send(news.refused).catch(() => undefined)
      if (news) this.#news.set(news.request.id, news)
      if ('method' in message && message.method === 'notifications/cancelled') this.#news.delete(message.params?.requestId)
      onmessage?.(news ? news.request : message)
    }
    this.onclose = () => {
      onclose?.()
      this.#end?.()
    }
    return super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const listening = 'method' in message ? message.params?._meta?.[SUBSCRIPTION_ID_META_KEY] : undefined
    const news = this.#news.get(listening)
    for (const each of news ? await news.translate(message) : [message]) await super.send(each)
  }
}
