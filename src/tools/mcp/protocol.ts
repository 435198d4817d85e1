import type { IncomingHttpHeaders } from 'node:http'
import {
  createMcpHandler,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Log } from '../../base/log.ts'
import { version } from '../../base/version.ts'
import { isObjectOrArray } from '../../domain/base/object.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { Tool, ToolVerbs } from '../base/tool.ts'
import { subtaskTools } from './subtasks.ts'
import { tools as always, toolNamed } from './tools.ts'

/** What goes back over HTTP; the body is JSON or empty. */
export interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: string
}

export interface Protocol {
  /** For what came over HTTP. What a tool does for this message winds down when `signal` aborts. */
  exchange(message: unknown, headers: IncomingHttpHeaders, signal: AbortSignal): Promise<Answer>
  /** The same for what came another way: answers under the id of the message, whatever that is. */
  answer(message: Asked, signal: AbortSignal): Promise<object>
}

export type Asked = object & { readonly id: unknown }

/** Speaks MCP in every revision that the SDK knows: those that begin with `initialize`, and those that describe themselves in each request. */
export function createProtocol(
  verbs: ToolVerbs,
  { log, more, onListed }: { log: Log; more: readonly Tool[]; onListed?: (() => void) | undefined },
): Protocol {
  const tools = [...always, ...(verbs.subtasks?.mayCreate ? subtaskTools(verbs.subtasks) : []), ...more]
  const plain = createExchange((headers, signal) => createServer(verbs, { log, tools: renamed(tools, headers), signal }), log)
  const told = <T>(message: unknown, answer: T) => {
    if (methodOf(message) === 'tools/list') onListed?.()
    return answer
  }
  return {
    exchange: async (message, headers, signal) => told(message, await plain.exchange(message, headers, signal)),
    answer: async (message, signal) => told(message, await plain.answer(message, signal)),
  }
}

/** Answers messages one by one, each by a server of its own: nothing is kept between them. */
export function createExchange(serverFor: (headers: IncomingHttpHeaders, signal: AbortSignal) => Server, log: Log): Protocol {
  const onerror = (error: Error) => log.debug('the tool server refused a message', { error: error.message })
  return {
    async exchange(message, headers, signal) {
      const serverOf = () => serverFor(headers, signal)
      const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers: forSdk(headers) })
      // A stream that stays open would outlive the run. Nothing that could be subscribed to ever changes here.
      if (methodOf(message) === 'subscriptions/listen') return methodNotFound(message)
      const isLegacy = await isLegacyRequest(request, message)
      const response = isLegacy
        ? await exchangeOnce(serverOf(), request, message)
        : await createMcpHandler(serverOf, { legacy: 'reject', onerror }).fetch(request, { parsedBody: message })
      return { status: response.status, body: await response.text() }
    },
    async answer(message, signal) {
      if (isJSONRPCRequest(message)) return answerOnce(serverFor({}, signal), message)
      return { jsonrpc: '2.0', id: message.id, error: { code: ProtocolErrorCode.InvalidRequest, message: 'This is no request.' } }
    },
  }
}

/** Some programs hide whatever is called like a tool of their own: they say `pawl-tool-name: ask_user=ask_person`, and have it under that name. */
function renamed(tools: readonly Tool[], headers: IncomingHttpHeaders): readonly Tool[] {
  const [, from, to] = /^(\w{1,64})=(\w{1,64})$/.exec(String(headers['pawl-tool-name'] ?? '')) ?? []
  return to === undefined ? tools : tools.map((tool) => (tool.name === from ? { ...tool, name: to } : tool))
}

interface ServerParts {
  readonly log: Log
  readonly tools: readonly Tool[]
  readonly signal: AbortSignal
}

function createServer(verbs: ToolVerbs, { log, tools, signal }: ServerParts): Server {
  const server = new Server(
    { name: 'pawl', title: 'Pawl', version },
    { capabilities: { tools: {} }, instructions: 'Reaches the person who gave you this task: ask_user, send_message_to_user.' },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, description, inputSchema, annotations }) => ({ name, description, inputSchema, annotations })),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = found(params.name, tools)
    try {
      return { content: [{ type: 'text', text: await tool.call(params.arguments ?? {}, verbs, signal) }] }
    } catch (error) {
      if (!(error instanceof PawlError)) log.error('a tool failed', { tool: tool.name, error: messageOf(error) })
      const text = error instanceof PawlError ? error.message : 'Pawl could not do this; its log says why.'
      return { content: [{ type: 'text', text }], isError: true }
    }
  })
  return server
}

function found(name: string, tools: readonly Tool[]) {
  try {
    return toolNamed(name, tools)
  } catch (error) {
    throw error instanceof PawlError ? new ProtocolError(ProtocolErrorCode.InvalidParams, error.message) : error
  }
}

async function exchangeOnce(server: Server, request: Request, message: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

/** By a server that hears of this one request, and of nothing else. */
async function answerOnce(server: Server, request: JSONRPCRequest): Promise<object> {
  const answered = Promise.withResolvers<object>()
  const line: Transport = {
    start: async () => {},
    close: async () => {},
    async send(message) {
      if ('id' in message && message.id === request.id && !('method' in message)) answered.resolve(message)
    },
  }
  await server.connect(line)
  try {
    line.onmessage?.(request)
    return await answered.promise
  } finally {
    await server.close()
  }
}

/** We always answer in JSON, so a client that only takes JSON is as welcome as one that would take a stream too. */
function forSdk(headers: IncomingHttpHeaders): Headers {
  const passed = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (passed.includes(entry[0]) || entry[0].startsWith('mcp-param-')),
  )
  return new Headers([...kept, ['accept', 'application/json, text/event-stream']])
}

function methodOf(message: unknown): unknown {
  return isObjectOrArray(message) && 'method' in message ? message.method : undefined
}

function methodNotFound(message: unknown): Answer {
  const id = (message as { id?: unknown }).id ?? null
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }) }
}
