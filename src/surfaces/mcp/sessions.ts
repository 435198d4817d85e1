import { randomUUID } from 'node:crypto'
import { type AuthInfo, type ServerEventBus, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../../base/clock.ts'
import { createEventStore } from './event-store.ts'
import type { PawlServer } from './server.ts'

const idleMs = 3_600_000
const lookMs = 60_000
/** Of one token. A client that never says goodbye must not fill the daemon. */
const mostOfOne = 100

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: PawlServer
  /** Whose it is: no other token is served in it. */
  readonly token: string
  /** Of the newest request: their rights may have changed since the session began. */
  authInfo: AuthInfo
  lastUsedMs: number
  open: number
}

/**
 * The sessions of the older era. They hold what that protocol needs a session for (questions to the client, subscriptions) and nothing of a task:
 * after a restart a client is told that its session is gone, begins another, and finds its tasks where they were.
 */
export function createSessions(options: {
  readonly clock: Clock
  readonly news: ServerEventBus
  readonly serve: (authInfo: () => AuthInfo) => PawlServer
}) {
  const { clock, news, serve } = options
  const sessions = new Map<string, Session>()
  let cancelLook: (() => void) | undefined

  const drop = (id: string) => {
    const session = sessions.get(id)
    sessions.delete(id)
    void session?.transport.close()
  }
  const look = () => {
    cancelLook = undefined
    for (const [id, { open, lastUsedMs }] of sessions) if (open === 0 && clock.now() - lastUsedMs > idleMs) drop(id)
    if (sessions.size > 0) cancelLook = clock.after(lookMs, look)
  }
  const makeRoom = (token: string) => {
    const theirs = [...sessions].filter(([, session]) => session.token === token)
    if (theirs.length < mostOfOne) return
    const [oldest] = theirs.sort(([, one], [, other]) => one.lastUsedMs - other.lastUsedMs)
    if (oldest) drop(oldest[0])
  }

  const begin = async (authInfo: AuthInfo): Promise<Session> => {
    makeRoom(authInfo.clientId)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, session)
        cancelLook ??= clock.after(lookMs, look)
      },
      onsessionclosed: (id) => void sessions.delete(id),
      eventStore: createEventStore(),
      retryInterval: 1_000,
      keepAliveMs: 0,
    })
    const state = { authInfo, lastUsedMs: clock.now(), open: 0 }
    const session: Session = Object.assign(state, { transport, server: serve(() => state.authInfo), token: authInfo.clientId })
    addSubscriptions(session.server, news)
    await session.server.connect(transport)
    return session
  }

  return {
    async answer(request: Request, authInfo: AuthInfo, parsedBody: unknown): Promise<Response> {
      const id = request.headers.get('mcp-session-id')
      const found = id === null ? undefined : sessions.get(id)
      if (id !== null && found?.token !== authInfo.clientId) return gone()
      const session = found ?? (await begin(authInfo))
      session.authInfo = authInfo
      session.lastUsedMs = clock.now()
      session.open++
      const end = () => {
        session.open--
        session.lastUsedMs = clock.now()
      }
      try {
        return whenRead(await session.transport.handleRequest(request, { parsedBody, authInfo }), end)
      } catch (error) {
        end()
        throw error
      }
    },
    stop(): void {
      cancelLook?.()
      for (const id of [...sessions.keys()]) drop(id)
    },
  }
}

/** A resource that a client follows is told of in its session, and only there. */
export function addSubscriptions(server: PawlServer, news: ServerEventBus): void {
  if (!server.getCapabilities().resources) return
  const uris = new Set<string>()
  let leave: (() => void) | undefined
  const rest = () => {
    leave?.()
    leave = undefined
  }
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    uris.add(params.uri)
    leave ??= news.subscribe((event) => {
      if (event.kind === 'resource_updated' && uris.has(event.uri))
        server.sendResourceUpdated({ uri: event.uri }).catch(() => undefined)
    })
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    uris.delete(params.uri)
    if (uris.size === 0) rest()
    return {}
  })
  server.onclose = rest
}

const gone = () =>
  Response.json(
    { jsonrpc: '2.0', error: { code: -32001, message: 'There is no such session; begin a new one with initialize.' }, id: null },
    { status: 404 },
  )

/** Calls back when the answer has been read or given up. */
function whenRead(response: Response, end: () => void): Response {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    end()
    return response
  }
  let isOver = false
  const once = () => {
    if (!isOver) end()
    isOver = true
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      once()
      controller.close()
    },
    cancel(reason) {
      once()
      return reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}
