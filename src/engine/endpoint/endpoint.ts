import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { type Log, silentLog } from '../../base/log.ts'
import type { ToolExchange } from '../../domain/agent/tool-exchange.ts'
import { conflict, type ErrorCode, messageOf, PawlError } from '../../domain/error.ts'
import { createProxy, switchesProtocol } from '../../sandbox/egress/proxy.ts'
import { failingAs } from '../base/failure.ts'
import { drain } from './body.ts'
import { isOfPage } from './callers.ts'
import { type DoorVerbs, type HeldVerbs, type Holder, hold, type ToolHandler } from './holder.ts'
import { routeFor, routesOf } from './routes.ts'
import type { RunTools } from './run-tools.ts'

export type { DoorVerbs, HeldVerbs, ToolHandler } from './holder.ts'

/** The listener inside the walls of one process. It serves one run at a time: the one that holds it now. Until the first one has it, requests wait. */
export interface Door {
  /**
   * Gives the door to a run; `undefined` gives it to nobody, and everything is refused until the next run has it.
   * From the call on nothing reaches the run that had it before, not even a request whose body is still coming.
   * Resolves when all that was already being done for that run is done, and the tools of the new one are made. If they cannot be, nobody has the door.
   */
  bind(verbs: DoorVerbs | undefined): Promise<void>
  /** Serves a message that the program has sent over its own pipe instead of coming here. */
  readonly exchange: ToolExchange
  /** Resolves when the program has been told for the first time which tools of ours there are. */
  readonly listed: Promise<void>
  /** Ends every connection whose client has not read what it was sent: while it is frozen it reads nothing, and what is meant for it is ours to keep. */
  letGo(): void
  /** Ends every connection, then does what `bind(undefined)` does. Closing twice is fine. */
  close(): Promise<void>
}

/** Makes the tools of one run; `run` is there for one that is offered more than every run is. */
export type ToolServing = (
  verbs: HeldVerbs,
  options: { log: Log; run?: RunTools | undefined; onListed?: (() => void) | undefined },
) => ToolHandler | Promise<ToolHandler>

export interface DoorOptions {
  /** Whoever connects is the agent; the token guards a loopback that is shared with others. */
  readonly token: string
  /** Serves `/mcp` for the run with these verbs. */
  readonly tools?: ToolServing | undefined
  readonly log?: Log
  /** How long a client may take to say what it wants. */
  readonly patienceMs?: number
}

/** Package managers open dozens at a time. */
const maxConnections = 256

/** Serves the run's own small API, and its way out, on a listener that the walls handed out. */
export function serveDoor(listener: NetServer, options: DoorOptions): Door {
  const { token, tools, log = silentLog, patienceMs = 10_000 } = options
  let holder: Holder | undefined
  // The program inside starts before anybody here can know it, and one that is refused at its start gives up its tools.
  const bound = Promise.withResolvers<void>()
  const listed = Promise.withResolvers<void>()
  const currentHolder = () => bound.promise.then(() => holder)
  const currentNetwork = async () => {
    const current = await currentHolder()
    if (!current) throw noRun()
    if (!current.network) throw new PawlError('denied', 'No proxy and no model is served here: this run has its own way out.')
    return current.network
  }
  const limits = {
    requestTimeout: 300_000,
    headersTimeout: patienceMs,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 64 * 1024,
    // Longer than clients keep one that they do not use: one that we close while the next request is on its way looks like a failure.
    keepAliveTimeout: 120_000,
  }
  const http = createServer({ ...limits, shouldUpgradeCallback: switchesProtocol }, (request, response) => {
    const isOwn = request.url?.startsWith('/') ?? false
    if (isOwn && isOfPage(request))
      return reply(response.setHeader('connection', 'close'), 403, { error: 'Pages are not served here.' })
    const forModel = modelPath(request)
    if (forModel === undefined && proxy.takes(request)) return void proxy.serve(request, response)
    if (forModel === undefined && !isForTools(request)) closeAfter(response)
    const served =
      forModel === undefined ? serve(request, response, { token, currentHolder }) : serveModel(request, response, forModel)
    served.catch((error: unknown) => {
      // Somebody who went away in the middle is nothing to worry about.
      if (!(error instanceof PawlError) && request.complete) log.error('the door failed', { error: messageOf(error) })
      if (response.headersSent) response.destroy()
      else refuse(response, error)
    })
  })
  // Node watches over connections, and can end them all, from the moment at which a server listens; this one is only handed connections.
  http.emit('listening')
  listener.maxConnections = maxConnections
  const proxy = createProxy(http, currentNetwork, { log, patienceMs })
  listener.on('connection', proxy.accept)

  /** By the gateway, or as it comes to the endpoint of an agent that goes past it. */
  async function serveModel(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const holder = await currentHolder()
    if (holder?.models) return holder.models.serve(request, response, path)
    closeAfter(response)
    if (holder?.network && proxy.takes(request)) return proxy.serve(request, response)
    await drain(request)
    throw holder ? new PawlError('not_found', 'No model is served to this run: its program talks to its maker.') : noRun()
  }

  async function bind(verbs: DoorVerbs | undefined): Promise<void> {
    const before = holder
    const next = verbs && hold(verbs, token, tools && ((held, run) => tools(held, { log, run, onListed: listed.resolve })))
    holder = next
    bound.resolve()
    await before?.release()
    if (!next) return
    try {
      await failingAs('sandbox_error', () => next.tools)
      await next.ready()
    } catch (error) {
      if (holder === next) holder = undefined
      await next.release()
      throw error
    }
  }
  return {
    bind,
    listed: listed.promise,
    async exchange(message, about) {
      const holder = await currentHolder()
      if (!holder) throw noRun()
      if (!holder.tools) throw new PawlError('not_found', 'No tools are served to this run.')
      return (await holder.tools).exchange(message, about)
    },
    letGo: proxy.cutUnread,
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
      http.close()
      proxy.cut()
      await bind(undefined)
      await closed
    },
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { token, currentHolder }: { token: string; currentHolder: () => Promise<Holder | undefined> },
): Promise<void> {
  const { path, isAllowed } = addressed(request, token)
  if (!isAllowed) {
    await drain(request)
    return reply(response, 401, { error: 'Send the token of PAWL_DOOR_TOKEN as "Authorization: Bearer".' })
  }
  const holder = await currentHolder()
  if (!holder) {
    await drain(request)
    throw noRun()
  }
  const [isTools, server] = /^\/mcp(?:\/([\w-]+))?$/.exec(path) ?? []
  if (isTools !== undefined && holder.tools) return (await holder.tools).handle(request, response, server)
  const route = routeFor(request.method ?? '', path, holder.verbs)
  if (!route) {
    await drain(request)
    const known = [...routesOf(holder.verbs), ...(holder.tools ? ['POST /mcp'] : [])]
    throw new PawlError('not_found', `There are ${known.join(', ')} here.`)
  }
  const { status, body } = await route(request, holder.verbs)
  reply(response, status, body)
}

/** What is asked of a model, below our prefix; the second is that of Ag3ntum, whose programs may name their session in it. */
function modelPath({ url = '' }: IncomingMessage): string | undefined {
  const rest = /^(?:\/model|\/api\/llm-proxy(?:\/s\/[^/?]+)?)((?:[/?].*)?)$/.exec(url)?.[1]
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`
}

/** There is a program that sends its next message over the connection of the last one even where that is said to be closed, is cut off now and then, and goes on without any tools. */
const isForTools = ({ url = '' }: IncomingMessage) => /^(?:\/t\/[^/]*)?\/mcp(?:[/?]|$)/.test(url)

/** For what is asked now and then, connecting anew costs nothing. Models and tools are asked again and again, and keep their connections. */
const closeAfter = (response: ServerResponse) => void response.setHeader('connection', 'close')

const noRun = () => conflict('No run is under way here now, so nothing is served; try again in your next turn.')

/** The token comes in a header, or as the beginning of the path from programs that only know an address. */
function addressed(request: IncomingMessage, token: string): { path: string; isAllowed: boolean } {
  const path = request.url?.split('?')[0] ?? ''
  const [, given, rest] = /^\/t\/([^/]*)(\/.*)$/.exec(path) ?? []
  if (given !== undefined && rest !== undefined) return { path: rest, isAllowed: isSame(given, token) }
  return { path, isAllowed: isSame(request.headers.authorization ?? '', `Bearer ${token}`) }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const statuses = {
  invalid: 400,
  denied: 403,
  limited: 429,
  not_found: 404,
  conflict: 409,
  unsupported: 422,
  unavailable: 503,
  internal: 500,
} satisfies Record<ErrorCode, number>

function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof PawlError) reply(response, statuses[error.code], { error: error.message })
  else reply(response, 500, { error: 'Pawl could not serve this; its log says why.' })
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
}
