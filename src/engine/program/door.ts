import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { z } from 'zod'
import { conflict, type ErrorCode, messageOf, PawlError } from '../../domain/error.ts'
import { QuestionAsked } from '../../domain/question.ts'
import { createProxy, switchesProtocol } from '../../egress/proxy.ts'
import { type Log, silentLog } from '../../log.ts'
import { failingAs } from '../failure.ts'
import type { RunTools } from '../run-tools.ts'
import { type DoorVerbs, type HeldVerbs, type Holder, hold, type ToolHandler } from './door-holder.ts'

export type { DoorVerbs, HeldVerbs, ToolHandler } from './door-holder.ts'

/** The listener inside the walls of one process. It serves one run at a time: the one that holds it now. Until the first one has it, requests wait. */
export interface Door {
  /**
   * Gives the door to a run; `undefined` gives it to nobody, and everything is refused until the next run has it.
   * From the call on nothing reaches the run that had it before, not even a request whose body is still coming.
   * Resolves when all that was already being done for that run is done, and the tools of the new one are made. If they cannot be, nobody has the door.
   */
  bind(verbs: DoorVerbs | undefined): Promise<void>
  /** Ends every connection, then does what `bind(undefined)` does. Closing twice is fine. */
  close(): Promise<void>
}

/** Makes the tools of one run; `run` is there for one that is offered more than every run is. */
export type ToolServing = (
  verbs: HeldVerbs,
  options: { log: Log; run?: RunTools | undefined },
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

const maxBodyBytes = 256 * 1024
/** A sender that is cut off in the middle of its body does not read the refusal, so a bit more than allowed is taken and thrown away. */
const maxDrainedBytes = 8 * 1024 * 1024
/** Package managers open dozens at a time. */
const maxConnections = 256

/** Serves the run's own small API, and its way out, on a listener that the walls handed out. */
export function serveDoor(listener: NetServer, options: DoorOptions): Door {
  const { token, tools, log = silentLog, patienceMs = 10_000 } = options
  let holder: Holder | undefined
  // The program inside starts before anybody here can know it, and one that is refused at its start gives up its tools.
  const bound = Promise.withResolvers<void>()
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
  }
  const http = createServer({ ...limits, shouldUpgradeCallback: switchesProtocol }, (request, response) => {
    if (proxy.takes(request)) return void proxy.serve(request, response)
    // A kept connection that we close while the next request is on its way looks like a failure; connecting anew costs nothing here.
    response.setHeader('connection', 'close')
    serve(request, response, { token, currentHolder }).catch((error: unknown) => {
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

  async function bind(verbs: DoorVerbs | undefined): Promise<void> {
    const before = holder
    const next = verbs && hold(verbs, tools && ((held, run) => tools(held, { log, run })))
    holder = next
    bound.resolve()
    await before?.release()
    if (!next) return
    try {
      await failingAs('sandbox_error', () => next.tools)
    } catch (error) {
      if (holder === next) holder = undefined
      await next.release()
      throw error
    }
  }
  return {
    bind,
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
  if (!bearerIs(request, token)) {
    await drain(request)
    return reply(response, 401, { error: 'Send the token of PAWL_DOOR_TOKEN as "Authorization: Bearer".' })
  }
  const holder = await currentHolder()
  if (!holder) {
    await drain(request)
    throw noRun()
  }
  const path = request.url?.split('?')[0]
  if (path === '/mcp' && holder.tools) return (await holder.tools).handle(request, response)
  const route = routes[`${request.method} ${path}`]
  if (!route) {
    await drain(request)
    const known = [...Object.keys(routes), ...(holder.tools ? ['POST /mcp'] : [])]
    throw new PawlError('not_found', `There are ${known.join(', ')} here.`)
  }
  const { status, body } = await route(request, holder.verbs)
  reply(response, status, body)
}

const noRun = () => conflict('No run is under way here now, so nothing is served; try again in your next turn.')

type Route = (request: IncomingMessage, verbs: HeldVerbs) => Promise<{ status: number; body: unknown }>

const Message = z.strictObject({ text: z.string().min(1).max(65_536) })

const routes: Record<string, Route> = {
  'GET /v1/run': async (_, verbs) => ({ status: 200, body: verbs.describe() }),
  'POST /v1/questions': async (request, verbs) => ({
    status: 202,
    body: await verbs.ask(await readBody(request, QuestionAsked, 'question')),
  }),
  'POST /v1/messages': async (request, verbs) => {
    await verbs.notify((await readBody(request, Message, 'message')).text)
    return { status: 202, body: { sent: true } }
  },
}

function bearerIs(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function readBody<T>(request: IncomingMessage, schema: z.ZodType<T>, name: string): Promise<T> {
  const chunks: Buffer[] = []
  const size = await drain(request, (chunk, sizeWithIt) => {
    if (sizeWithIt <= maxBodyBytes) chunks.push(chunk)
  })
  if (size > maxBodyBytes) throw new PawlError('invalid', `The body is larger than ${maxBodyBytes} bytes.`)
  const parsed = schema.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || name}: ${issue.message}`)
  throw new PawlError('invalid', faults.join('; '))
}

/** Reads the body to its end, or as far as anybody may expect us to. Returns how much there was. */
async function drain(request: IncomingMessage, take?: (chunk: Buffer, sizeWithIt: number) => void): Promise<number> {
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    take?.(chunk, size)
    if (size > maxDrainedBytes) break
  }
  return size
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new PawlError('invalid', 'The body is not JSON.')
    throw error
  }
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
