import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'
import { type ErrorCode, messageOf, PawlError } from '../../src/domain/error.ts'
import { sendJson } from './deliver.ts'
import { type KeyState, play } from './play.ts'
import { pathWithoutSecrets, type RecordedRequest, RequestLog, withoutSecrets } from './record.ts'
import { findScenario, loadScenarios, type ScenarioInput, type Scenarios } from './scenario.ts'
import { asRecord, type Body } from './wire/wire.ts'

export interface ModelServerOptions {
  readonly port?: number
  /** Listens on this unix socket as well. */
  readonly socketPath?: string
  /** For requests without a `/s/<scenario>` prefix. */
  readonly scenario?: string
  /** Scenarios beside those of the folder; one of the same name wins. */
  readonly scenarios?: Readonly<Record<string, ScenarioInput>>
  /** Gets one line of JSON per finished request. */
  readonly logFile?: string
  readonly maxRequests?: number
}

export interface ModelServer {
  readonly url: string
  /** What came, oldest first. */
  readonly requests: readonly RecordedRequest[]
  /** The base address of a scenario; the key separates its counters and its record from those of other tests. */
  base(scenario: string, key?: string): string
  requestsOf(key: string): RecordedRequest[]
  /** The first request that matches, now or within the time. */
  waitFor(matches: (request: RecordedRequest) => boolean, timeoutMs?: number): Promise<RecordedRequest>
  /** Cuts what is still open, stalled answers too. Closing twice is fine. */
  close(): Promise<void>
}

/** Plays scenarios to real agent programs over the APIs they speak. Listens on the loopback address only. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const log = new RequestLog(options.maxRequests ?? 500)
  const { logFile, scenario = 'text' } = options
  const stage: Stage = { scenarios: loadScenarios(options.scenarios), log, states: new Map(), defaultScenario: scenario, logFile }
  const handle = (request: IncomingMessage, response: ServerResponse) => void answer(stage, request, response)

  const tcp = await listen(handle, { host: '127.0.0.1', port: options.port ?? 0 })
  const servers = [tcp, ...(options.socketPath === undefined ? [] : [await listen(handle, { path: options.socketPath })])]
  const url = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}`
  return {
    url,
    requests: log.requests,
    base: (scenario, key) => `${url}/s/${scenario}${key === undefined ? '' : `@${key}`}`,
    requestsOf: (key) => log.requests.filter((request) => request.key === key),
    waitFor: (matches, timeoutMs = 10_000) => log.waitFor(matches, timeoutMs),
    close: async () => void (await Promise.all(servers.map(close))),
  }
}

interface Stage {
  readonly scenarios: Scenarios
  readonly log: RequestLog
  readonly states: Map<string, KeyState>
  readonly defaultScenario: string
  readonly logFile: string | undefined
}

async function answer(stage: Stage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const about = url.pathname.startsWith('/_') ? answerAboutItself(stage, url) : undefined
    if (about === undefined) await answerAsModel(stage, url, request, response)
    else sendJson(response, 200, about)
  } catch (thrown) {
    if (response.headersSent) response.destroy()
    else sendJson(response, statusOf(thrown), { error: { type: 'model_server', message: messageOf(thrown) } })
  }
}

/** For tests that run the server as a program: what came, and what can be played. */
function answerAboutItself({ log, scenarios }: Stage, { pathname, searchParams }: URL): unknown {
  const key = searchParams.get('key')
  if (pathname === '/_requests') return log.requests.filter((request) => key === null || request.key === key)
  if (pathname === '/_scenarios') return Object.fromEntries([...scenarios].map(([name, { about }]) => [name, about]))
  return undefined
}

async function answerAsModel(stage: Stage, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, prefix, key = '', rest = '/'] = /^\/s\/([^/@]+)(?:@([^/]*))?(\/.*)?$/.exec(url.pathname) ?? []
  const name = prefix ?? stage.defaultScenario
  const path = prefix === undefined ? url.pathname : rest
  const { method = 'GET', headers } = request
  const body = await bodyOf(request)
  const seen = { method, path: pathWithoutSecrets(url), scenario: name, key, headers: withoutSecrets(headers), body }
  const recorded = stage.log.add(seen)
  const note = (facts: Partial<RecordedRequest>) => stage.log.complete(recorded, facts)
  response.once('close', () => {
    note(response.writableFinished ? {} : { isUnfinished: true })
    if (stage.logFile !== undefined) appendFileSync(stage.logFile, `${JSON.stringify(recorded)}\n`)
  })

  try {
    const other = (name: string) => ({
      scenario: findScenario(stage.scenarios, name),
      state: stateOf(stage, `${name}@${key}`),
    })
    await play({ ...other(name), other, method, path, query: url.searchParams, body, note }, response)
  } catch (thrown) {
    note({ answer: messageOf(thrown) })
    throw thrown
  }
}

function stateOf({ states }: Stage, key: string): KeyState {
  const state = states.get(key) ?? { counters: new Map(), pulled: new Set() }
  states.set(key, state)
  return state
}

const maxBodyBytes = 64 * 1024 * 1024

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxBodyBytes) throw new PawlError('invalid', `The request body is larger than ${maxBodyBytes} bytes.`)
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString('utf8')
  try {
    return text === '' ? {} : asRecord(JSON.parse(text))
  } catch (cause) {
    throw new PawlError('invalid', `The request body is not JSON: ${text.slice(0, 200)}`, { cause })
  }
}

const statuses: Partial<Record<ErrorCode, number>> = { invalid: 400, not_found: 404 }
const statusOf = (thrown: unknown) => (thrown instanceof PawlError ? statuses[thrown.code] : undefined) ?? 500

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  where: ListenOptions,
): Promise<Server> {
  const server = createServer(handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, resolve)
  })
  return server
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
