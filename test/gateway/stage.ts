import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { PawlError } from '../../src/domain/error.ts'
import type { Provider, Route, Routing } from '../../src/gateway/base/route.ts'
import type { CallFacts, Purse, WorstCase } from '../../src/gateway/money/purse.ts'
import { createGateway, type GatewayOptions, type GatewayRun, type ModelDoor } from '../../src/gateway/serving/gateway.ts'
import type { WireName } from '../../src/gateway/wires/wire.ts'

export const token = 'the-token-of-this-run'
export const providerKey = 'sk-the-real-key-of-the-provider'

/** A listener of our own on the loopback address; closing it cuts what is open. */
export async function listening(handle: RequestListener): Promise<{ url: string; server: Server; close(): Promise<void> }> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${port}`, server, close }
}

/** A provider that keeps what came, and answers as the test says. */
export async function startProvider(answer: RequestListener) {
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[]; body: Buffer }[] = []
  const arrivals: (() => void)[] = []
  const listener = await listening(async (request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request
    seen.push({ method, url, headers, raw: rawHeaders, body: await buffer(request) })
    for (const arrive of arrivals.splice(0)) arrive()
    answer(request, response)
  })
  return { ...listener, seen, arrival: () => new Promise<void>((resolve) => arrivals.push(resolve)) }
}

export const provider = (name: string, wire: WireName, baseUrl: string, more: Partial<Provider> = {}): Provider => ({
  ...{ name, wire, baseUrl, account: name },
  key: async () => providerKey,
  ...more,
})

export const route = (model: string, to: Provider, more: Partial<Route> = {}): Route => ({
  model,
  provider: to,
  target: model,
  ...more,
})

/** Routes as they stand; a model may have several. */
export function routingOf(...routes: Route[]): Routing {
  const models = [...new Set(routes.map(({ model }) => model))]
  return {
    models,
    routesOf(model) {
      const found = routes.filter((route) => route.model === model)
      if (found.length > 0) return found
      throw new PawlError('not_found', `There is no model "${model}"; there are ${models.join(', ')}.`)
    },
  }
}

/** Money that counts how it is handled, and throws where it is handled wrongly. */
export function countedPurse({
  refuse,
  grants,
}: {
  refuse?: (call: WorstCase) => Error | undefined
  grants?: (call: WorstCase) => number | undefined
} = {}) {
  const ledger = { reserved: [] as WorstCase[], settled: [] as CallFacts[], released: [] as CallFacts[], open: 0 }
  const purse: Purse = {
    async reserve(call) {
      await Promise.resolve()
      const refusal = refuse?.(call)
      if (refusal) throw refusal
      ledger.reserved.push(call)
      ledger.open++
      let isOver = false
      const end = (into: CallFacts[]) => (facts: CallFacts) => {
        if (isOver) throw new Error('a reservation was ended twice')
        isOver = true
        ledger.open--
        into.push(facts)
      }
      const outputTokens = grants?.(call) ?? call.outputTokens
      return { outputTokens, settle: end(ledger.settled), release: end(ledger.released) }
    },
  }
  return { purse, ledger }
}

/** A gateway behind a real listener. */
export async function startStage(
  routing: Routing,
  { run, ...options }: Partial<GatewayOptions> & { run?: Partial<GatewayRun> } & Parameters<typeof countedPurse>[0] = {},
) {
  const calls: CallFacts[] = []
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => 0 })
  const { purse, ledger } = countedPurse(options)
  const gateway = createGateway({ clock: systemClock, ...options })
  const told: (() => void)[] = []
  const door: ModelDoor = gateway.open({
    ...{ routing, purse, token, log },
    onCall(call) {
      calls.push(call)
      for (const tell of told.splice(0)) tell()
    },
    ...run,
  })
  const listener = await listening((request, response) => void door.serve(request, response, request.url ?? '/'))
  return {
    url: listener.url,
    server: listener.server,
    gateway,
    door,
    calls,
    lines,
    ledger,
    /** When so many calls are over. */
    async callsOver(count: number): Promise<CallFacts[]> {
      while (calls.length < count) await new Promise<void>((resolve) => told.push(resolve))
      return calls
    },
    async close() {
      await door.close()
      await listener.close()
      gateway.close()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof startStage>>

export interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly raw: readonly string[]
  readonly body: Buffer
  /** The connection broke before the answer's end. */
  readonly isCut: boolean
}

/** Sends exactly these bytes; `headers` may be flat. */
export async function ask(
  url: string,
  {
    method = 'POST',
    headers = {},
    body,
    key = token,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer; key?: string | null } = {},
): Promise<Got> {
  const sent = request(url, {
    method,
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }), ...headers },
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  const isCut = await new Promise<boolean>((resolve) => {
    response.once('end', () => resolve(false))
    response.once('error', () => resolve(true))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    raw: response.rawHeaders,
    body: Buffer.concat(chunks),
    isCut,
  }
}
