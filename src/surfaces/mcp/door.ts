import {
  type AuthInfo,
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { localUser, type Principal } from '../../domain/auth/role.ts'
import { messageOf } from '../../domain/error.ts'
import type { McpRuntime, RunState, Who } from './call.ts'
import type { Extras } from './extras.ts'
import { createNews } from './news.ts'
import { createPawlServer, type McpParts } from './server.ts'
import { createSessions } from './sessions.ts'
import { taskNewsFor, translated } from './task-news.ts'

/** MCP over HTTP, for both eras at one address. Who asks has passed the gate; each tool looks for its own rights. */
export interface McpDoor {
  /** The signal aborts when whoever asks has gone away. */
  answer(request: Request, principal: Principal, signal: AbortSignal): Promise<Response>
  stop(): Promise<void>
}

export interface McpDoorOptions {
  readonly runtime: McpRuntime
  readonly log: Log
  readonly version: string
  /** At least 32 bytes that all daemons of this home share: what goes through clients is sealed with it. */
  readonly key: Uint8Array
  readonly clock?: Clock | undefined
  readonly extras?: Extras | undefined
}

/** A person may take days to answer. */
export const sealTtlSeconds = 7 * 86_400

export function createMcpDoor(options: McpDoorOptions): McpDoor {
  const { runtime, log, version, key, extras, clock = systemClock } = options
  const seal = createRequestStateCodec<RunState>({
    key,
    ttlSeconds: sealTtlSeconds,
    bind: (ctx) => `${ctx.mcpReq.method}\0${tokenOf(ctx)}`,
  })
  const parts: McpParts = { runtime, log, version, seal, extras }
  const news = createNews({ runtime, log })
  const publish = extras?.onPublish?.(news.publish)
  const modern = createMcpHandler(({ authInfo }) => createPawlServer(parts, 'modern', () => whoOf(principalOf(authInfo))), {
    legacy: 'reject',
    bus: news,
    keepAliveMs: 0,
    onerror: (error) => log.debug('an MCP request was refused', { error: messageOf(error) }),
  })
  const sessions = createSessions({
    clock,
    news,
    serve: (authInfo) => createPawlServer(parts, 'legacy', () => whoOf(principalOf(authInfo()))),
  })

  return {
    async answer(request, principal, signal) {
      const read = await bodyOf(request)
      if ('refused' in read) return read.refused
      const { body } = read
      const authInfo: AuthInfo = { token: '', clientId: principal.token, scopes: [], extra: { principal } }
      const bare = new Request(request.url, { method: request.method, headers: request.headers, signal })
      if (await isLegacyRequest(request, body)) return sessions.answer(bare, authInfo, body)
      const news = taskNewsFor(body, { runtime, who: whoOf(principal) })
      if (!news) return modern.fetch(bare, { parsedBody: body, authInfo })
      if ('refused' in news) return Response.json(news.refused, { status: 400 })
      return translated(await modern.fetch(bare, { parsedBody: news.request, authInfo }), news)
    },
    async stop() {
      publish?.()
      sessions.stop()
      await modern.close()
      news.stop()
    },
  }
}

/** Whose work it is in the journal: the user's, or that of the owner by this way in. */
export function whoOf({ user, token, standing }: Principal): Who {
  return { caller: { by: user === localUser ? 'mcp' : user, user, token, standing }, standing }
}

const principalOf = (authInfo: AuthInfo | undefined) => authInfo?.extra?.principal as Principal
const tokenOf = (ctx: ServerContext) => ctx.http?.authInfo?.clientId ?? ''

/** The body is read once, here. */
async function bodyOf(request: Request): Promise<{ body: unknown } | { refused: Response }> {
  if (request.method !== 'POST') return { body: undefined }
  try {
    return { body: await request.json() }
  } catch {
    // Whatever went wrong with reading it, there is nothing to answer but that.
    const error = { code: -32700, message: 'The body is not JSON.' }
    return { refused: Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 }) }
  }
}
