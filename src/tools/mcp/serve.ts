import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Log, silentLog } from '../../base/log.ts'
import type { ToolExchange } from '../../domain/agent/tool-exchange.ts'
import { messageOf } from '../../domain/error.ts'
import type { Tool, ToolVerbs } from '../base/tool.ts'
import type { Answer, Protocol } from './protocol.ts'

export interface ToolServer {
  /** Answers one HTTP request whose sender is already known to be the agent. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, server?: string): Promise<void>
  /** Answers one message of theirs that came another way. Never rejects. */
  readonly exchange: ToolExchange
  /** Resolves when all that it offers is known, or will not be soon. Undefined: it is. */
  readonly settled?: Promise<unknown> | undefined
  /** Refuses every message that has not arrived whole, tells what takes long to wind down, and resolves when the calls under way have been answered. Closing twice is fine. */
  close(): Promise<void>
}

export interface ToolServerOptions {
  readonly log?: Log
  /** Offered besides those that every run has. */
  readonly more?: readonly Tool[]
  /** Called whenever somebody has been told which tools there are. */
  readonly onListed?: (() => void) | undefined
}

const maxBodyBytes = 1024 * 1024
/** A sender that is cut off in the middle of its body does not read the refusal, so a bit more than allowed is taken and thrown away. */
const maxDrainedBytes = 8 * maxBodyBytes

/**
 * Our tools as an MCP server over streamable HTTP. It has no sessions, so that a program which outlives a run goes on with the next one,
 * and it never streams: whoever calls a tool waits for its whole answer.
 */
export function createToolServer(verbs: ToolVerbs, options: ToolServerOptions = {}): ToolServer {
  const { log = silentLog, more = [], onListed } = options
  // Loaded by whoever calls first: most runs call no tool, and the start of Pawl is not to wait for it.
  const load = () => import('./protocol.ts').then(({ createProtocol }) => createProtocol(verbs, { log, more, onListed }))
  return serveProtocol(load, log)
}

/** The same for whatever else answers messages of MCP one by one. */
export function serveProtocol(load: () => Promise<Protocol>, log: Log): ToolServer {
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  let protocol: Promise<Protocol> | undefined
  let isClosed = false

  async function answer(request: IncomingMessage, gone: AbortSignal): Promise<Answer> {
    if (request.method !== 'POST') return { ...refusal(405, -32000, 'Send messages with POST.'), headers: { allow: 'POST' } }
    const text = await readText(request)
    if (text === undefined) return refusal(413, -32000, `The message is larger than ${maxBodyBytes} bytes.`)
    const message = parse(text)
    if (message === undefined) return refusal(400, -32700, 'The message is not JSON.')
    // Batches are no part of the protocol since 2025-06-18, and nobody sends them.
    if (Array.isArray(message)) return refusal(400, -32600, 'Send one message per request.')
    if (isClosed) return refusal(409, -32000, isOver)
    return counted(gone, ({ exchange }, signal) => exchange(message, request.headers, signal))
  }
  function counted<T>(gone: AbortSignal, work: (protocol: Protocol, signal: AbortSignal) => Promise<T>): Promise<T> {
    protocol ??= load()
    const answered = protocol.then((loaded) => work(loaded, AbortSignal.any([closing.signal, gone])))
    underWay.add(answered)
    return answered.finally(() => underWay.delete(answered))
  }
  function logged(error: unknown): void {
    log.error('a message to the tool server could not be answered', { error: messageOf(error) })
  }

  return {
    async handle(request, response, server) {
      const gone = new AbortController()
      response.once('close', () => response.writableEnded || gone.abort())
      const answered =
        server === undefined
          ? answer(request, gone.signal)
          : readText(request).then(() => refusal(404, -32000, unknownServer(server)))
      const { status, headers, body } = await answered.catch((error: unknown) => {
        // A sender that went away in the middle is nothing to worry about.
        if (request.complete) logged(error)
        return refusal(500, -32603, failed)
      })
      response.writeHead(status, { 'cache-control': 'no-store', ...(body && { 'content-type': 'application/json' }), ...headers })
      response.end(body)
    },
    async exchange(message, { server, signal }) {
      if (!('id' in message)) return undefined
      const refused = (code: number, text: string) => ({ jsonrpc: '2.0', id: message.id, error: { code, message: text } })
      if (server !== undefined) return refused(-32000, unknownServer(server))
      if (isClosed) return refused(-32000, isOver)
      return counted(signal, ({ answer }, ended) => answer(message, ended)).catch((error: unknown) => {
        logged(error)
        return refused(-32603, failed)
      })
    },
    async close() {
      isClosed = true
      closing.abort()
      await Promise.allSettled(underWay)
    },
  }
}

const isOver = 'The run that this tool server belonged to is over.'
const failed = 'Pawl could not serve this; its log says why.'
const unknownServer = (name: string) => `There is no server of tools "${name}" in this run.`

function refusal(status: number, code: number, message: string): Answer {
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The whole body, or undefined if it is too large. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBodyBytes) chunks.push(chunk)
    else if (size > maxDrainedBytes) break
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8')
}
