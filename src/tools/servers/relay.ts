import { type CallToolResult, type Client, SdkHttpError, type Tool } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import type { Log } from '../../base/log.ts'
import { type TraceContext, traceHeaders } from '../../domain/base/trace-context.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { withoutMiddle } from '../base/answer-text.ts'
import { createExchange, type Protocol } from '../mcp/protocol.ts'
import type { Permit } from '../strict/strict-parts.ts'
import { isLate } from './connect.ts'
import { mostTools } from './port.ts'
import type { Upstream } from './upstream.ts'

export interface RelayParts {
  readonly permit: Permit
  /** False: the profile does not have this tool at all. */
  isOffered(tool: string): boolean
  readonly log: Log
  /** The span of the run's turn. */
  readonly trace?: TraceContext | undefined
}

type Reached = Awaited<ReturnType<Upstream['get']>>

/** The most of one text that is passed on, and of a whole answer: what is larger would push everything else out of the model's memory. */
const mostTextChars = 100_000
const mostAnswerBytes = 4 * 1024 * 1024

/** Passes on what an agent asks of a server, in whichever revisions the two speak, once the rules allow it. */
export function createRelay(upstream: Upstream, parts: RelayParts): Protocol {
  const passOn = (reached: Reached) => createExchange((_, signal) => serverLike(upstream, reached, parts, signal), parts.log)
  const reach = () => upstream.get().then(passOn, refuseAll)
  return {
    exchange: async (...given) => (await reach()).exchange(...given),
    answer: async (...given) => (await reach()).answer(...given),
  }
}

/** Offers what the server offers, under its own name. */
function serverLike(upstream: Upstream, reached: Reached, parts: RelayParts, signal: AbortSignal): Server {
  const { client } = reached
  const can = client.getServerCapabilities() ?? {}
  const info = client.getServerVersion() ?? { name: upstream.name, version: '0' }
  const instructions = client.getInstructions()
  const server = new Server(
    { name: info.name, version: info.version },
    {
      capabilities: {
        ...(can.tools ? { tools: {} } : {}),
        ...(can.resources ? { resources: {} } : {}),
        ...(can.prompts ? { prompts: {} } : {}),
        ...(can.completions ? { completions: {} } : {}),
      },
      ...(instructions === undefined ? {} : { instructions: reached.redactor.text(instructions) }),
    },
  )
  const options = { timeout: upstream.server.timeoutMs, signal }
  if (can.tools) {
    server.setRequestHandler('tools/list', async () => {
      const { tools } = await client.listTools(undefined, options)
      const offered = tools.filter((tool) => parts.isOffered(ruleName(upstream, tool.name)))
      return reached.redactor.value({ tools: fitting(offered) })
    })
    server.setRequestHandler('tools/call', ({ params }) => call(upstream, reached, parts, params, signal))
  }
  if (can.resources) {
    server.setRequestHandler('resources/list', async () => passed(reached, await client.listResources(undefined, options)))
    server.setRequestHandler('resources/templates/list', async () =>
      passed(reached, await client.listResourceTemplates(undefined, options)),
    )
    server.setRequestHandler('resources/read', async ({ params }) =>
      passed(reached, await client.readResource({ uri: params.uri }, options)),
    )
  }
  if (can.prompts) {
    server.setRequestHandler('prompts/list', async () => passed(reached, await client.listPrompts(undefined, options)))
    server.setRequestHandler('prompts/get', async ({ params }) =>
      passed(
        reached,
        await client.getPrompt({ name: params.name, ...(params.arguments ? { arguments: params.arguments } : {}) }, options),
      ),
    )
  }
  if (can.completions)
    server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context } }) =>
      passed(reached, await client.complete({ ref, argument, ...(context ? { context } : {}) }, options)),
    )
  return server
}

/** As rules know it. */
const ruleName = ({ name }: Upstream, tool: string) => `mcp__${name}__${tool}`

async function call(
  upstream: Upstream,
  reached: Reached,
  { permit, isOffered, trace }: RelayParts,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  signal: AbortSignal,
): Promise<CallToolResult> {
  const tool = ruleName(upstream, params.name)
  const input = params.arguments ?? {}
  if (!isOffered(tool)) return failed(`The profile of this run does not have the tool ${tool}.`)
  const permission = await permit({ tool, input })
  if (!permission.allow) return failed(permission.message)
  try {
    const result = await callTool(
      reached.client,
      { name: params.name, arguments: input, ...(trace ? { _meta: traceHeaders(trace) } : {}) },
      { upstream, signal },
    )
    return bounded(passed(reached, result))
  } catch (error) {
    if (signal.aborted) throw error
    if (isLost(error)) upstream.drop(reached.client, messageOf(error))
    const { timeoutMs } = upstream.server
    return failed(reached.redactor.text(sentence(upstream.name, { error, gone: reached.gone, timeoutMs })))
  }
}

/** It has forgotten us, or is not there any more. */
const isLost = (error: unknown) => (error instanceof SdkHttpError && error.status === 404) || error instanceof PawlError

/** A server that tells of its progress is at work; only one that is silent, or never ends, is given up. */
const callTool = (
  client: Client,
  params: { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> },
  { upstream, signal }: { upstream: Upstream; signal: AbortSignal },
) =>
  client.callTool(params, {
    timeout: upstream.server.timeoutMs,
    maxTotalTimeout: Math.max(600_000, upstream.server.timeoutMs),
    resetTimeoutOnProgress: true,
    onprogress: () => undefined,
    signal,
  })

function sentence(
  name: string,
  { error, gone, timeoutMs }: { error: unknown; gone: string | undefined; timeoutMs: number },
): string {
  if (gone !== undefined)
    return `The server "${name}" was lost in the middle of this call: ${gone} It is started again when you call it again.`
  if (isLate(error))
    return `The server "${name}" did not answer within ${timeoutMs / 1_000} s, so this call was given up; what it has done so far is not known.`
  return error instanceof PawlError ? error.message : `The server "${name}" refused this: ${messageOf(error)}`
}

const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

const passed = <T>({ redactor }: Reached, result: T): T => redactor.value(result)

/** The first of them, as many as can be passed on. */
function fitting(tools: readonly Tool[]): Tool[] {
  let room = mostAnswerBytes / 2
  return tools.slice(0, mostTools).filter((tool) => {
    room -= Buffer.byteLength(JSON.stringify(tool))
    return room >= 0
  })
}

/** Texts lose their middle; what is still too large is left out, and said. */
function bounded(result: CallToolResult): CallToolResult {
  let room = mostAnswerBytes
  const content = result.content.map((block) => {
    const cut = block.type === 'text' ? { ...block, text: withoutMiddle(block.text, mostTextChars) } : block
    const bytes = Buffer.byteLength(JSON.stringify(cut))
    if (bytes > room)
      return { type: 'text' as const, text: `[${block.type} of ${bytes} bytes left out: it is too large to be passed on]` }
    room -= bytes
    return cut
  })
  const { structuredContent, ...rest } = result
  const fits =
    structuredContent !== undefined && Buffer.byteLength(JSON.stringify(structuredContent)) <= Math.min(room, mostTextChars * 4)
  return { ...rest, content, ...(fits ? { structuredContent } : {}) }
}

/** For a server that cannot be reached: the agent's program is told why, under the id that it waits for. */
function refuseAll(error: unknown): Protocol {
  const refusal = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: messageOf(error) } })
  return {
    async exchange(message) {
      const id = (message as { id?: unknown } | null)?.id
      return id === undefined ? { status: 202, body: '' } : { status: 200, body: JSON.stringify(refusal(id)) }
    },
    answer: async ({ id }) => refusal(id),
  }
}
