import { randomUUID } from 'node:crypto'
import {
  type CacheHint,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Log } from '../../base/log.ts'
import { mayUse } from '../../domain/auth/role.ts'
import { PawlError, stackOf } from '../../domain/error.ts'
import type { Call, Era, McpRuntime, RunState, Who } from './call.ts'
import { complete } from './complete.ts'
import type { Extras } from './extras.ts'
import { type OfferedPrompt, prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import { addTaskMethods, taskResult, tasksExtension } from './task-methods.ts'
import { failure, isTaskInstead, type OfferedTool } from './tool.ts'
import { tools } from './tools/index.ts'

export interface McpParts {
  readonly runtime: McpRuntime
  readonly log: Log
  readonly version: string
  readonly seal: RequestStateCodec<RunState>
  /** Where tasks work that name no folder. */
  readonly workspace?: string | undefined
  readonly allowHome?: boolean | undefined
  readonly adopt?: ((task: string) => Promise<void>) | undefined
  /** What the conformance suite asks for beside our own. */
  readonly extras?: Extras | undefined
}

const instructions =
  'Pawl runs coding agents unattended and loses nothing. Hand work in with create_task and wait with wait_task, or have it done with run_task. A task may ask something: list_questions, answer_question. send_message goes on with the conversation of an earlier task. read_changes shows what was changed. Tasks stay when you disconnect.'

/** What a client may keep: lists of what the program offers for a minute, what is told of tasks not at all. */
const lasting: CacheHint = { ttlMs: 60_000, cacheScope: 'private' }
const fresh: CacheHint = { ttlMs: 0, cacheScope: 'private' }

/** One server of the protocol: for one request in the newer era, for one session or one stdio connection in the older. It keeps nothing that matters. */
export function createPawlServer(parts: McpParts, era: Era, who: () => Who): PawlServer {
  const { runtime, seal, workspace, allowHome, adopt, extras } = parts
  const reads = mayUse('read', who().standing)
  const capabilities: ServerCapabilities = {
    tools: extras ? { listChanged: true } : {},
    ...(reads
      ? {
          resources: { subscribe: true, listChanged: true },
          prompts: extras ? { listChanged: true } : {},
          completions: {},
          ...(era === 'modern'
            ? { extensions: { [tasksExtension]: {} } }
            : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
        }
      : {}),
    ...(extras && era === 'legacy' ? { logging: {} } : {}),
  }
  const server = new PawlServer(
    { name: 'pawl', title: 'Pawl', version: parts.version },
    {
      capabilities,
      instructions,
      requestState: { verify: seal.verify },
      cacheHints: {
        'tools/list': lasting,
        'prompts/list': lasting,
        'resources/templates/list': lasting,
        'resources/list': fresh,
        'resources/read': fresh,
        'server/discover': lasting,
      },
    },
  )
  const callFor = (ctx: ServerContext, asksForTask = true): Call => {
    const declared = era === 'modern' ? envelopeOf(ctx) : server.getClientCapabilities()
    return {
      runtime,
      who: who(),
      era,
      ctx,
      seal,
      canElicit: declared?.elicitation !== undefined,
      takesTask: era === 'modern' ? declared?.extensions?.[tasksExtension] !== undefined : asksForTask,
      workspace,
      allowHome,
      adopt,
    }
  }
  const offered: readonly OfferedTool[] = extras ? [...tools, ...extras.tools] : tools
  server.setRequestHandler('tools/list', () => ({
    tools: offered.filter((tool) => tool.isFor(who().standing)).map(({ definition }) => definition),
  }))
  server.setRequestHandler('tools/call', async (request, ctx) => {
    const { name, arguments: args } = request.params
    const tool = offered.find(({ definition }) => definition.name === name)
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}"; tools/list shows those there are.`)
    const asksForTask = era === 'legacy' && request.params.task !== undefined && tool.definition.execution !== undefined
    const call = callFor(ctx, asksForTask)
    try {
      const made = await tool.call(args, call)
      if (!isTaskInstead(made)) return made
      // The type of the method knows only its usual results; `PawlServer` lets this one through.
      return (await (extras?.taskResult(made.taskInstead) ?? taskResult(call, made.taskInstead))) as unknown as CallToolResult
    } catch (error) {
      return refusal(error, parts.log)
    }
  })
  if (!reads) return server

  const offeredPrompts: readonly OfferedPrompt[] = extras ? [...prompts, ...extras.prompts] : prompts
  server.setRequestHandler('prompts/list', () => ({ prompts: offeredPrompts.map(({ definition }) => definition) }))
  server.setRequestHandler('prompts/get', ({ params }, ctx) =>
    refusing(parts.log, async () => {
      const prompt = offeredPrompts.find(({ definition }) => definition.name === params.name)
      if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${params.name}".`)
      return prompt.get(params.arguments ?? {}, callFor(ctx))
    }),
  )
  server.setRequestHandler('resources/list', ({ params }, ctx) =>
    refusing(parts.log, async () => {
      const listed = await listResources(callFor(ctx), params?.cursor)
      return extras && params?.cursor === undefined
        ? { ...listed, resources: [...extras.resources, ...listed.resources] }
        : listed
    }),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: extras ? [...resourceTemplates, ...extras.resourceTemplates] : resourceTemplates,
  }))
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    refusing(parts.log, async () => extras?.readResource(params.uri) ?? (await readResource(callFor(ctx), params.uri))),
  )
  server.setRequestHandler('completion/complete', ({ params }, ctx) => refusing(parts.log, () => complete(callFor(ctx), params)))
  addTaskMethods(server, era, callFor, extras?.tasks)
  return server
}

const envelopeOf = (ctx: ServerContext) =>
  (ctx.mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]

/** A tool may answer with a task in the place of its result; the library knows only results, so they are led past its check. */
export class PawlServer extends Server {
  protected override _wrapHandler(
    method: string,
    handler: (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>,
  ): (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result> {
    if (method !== 'tools/call') return super._wrapHandler(method, handler)
    return async (request, ctx) => {
      let task: Result | undefined
      const checked = super._wrapHandler(method, async (given, context) => {
        const result = await handler(given, context)
        if (!('taskId' in result) && !('task' in result)) return result
        task = result
        return { content: [] }
      })
      const result = await checked(request, ctx)
      return task ?? result
    }
  }
}

/** What a tool refuses is told as a result, so that the model can read it and act; only what the protocol itself forbids is an error of it. */
function refusal(error: unknown, log: Log): CallToolResult | InputRequiredResult {
  if (error instanceof ProtocolError) throw error
  if (error instanceof PawlError && error.code !== 'internal') return failure(error.message)
  return failure(ourMistake(error, log))
}

async function refusing<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof PawlError && error.code !== 'internal')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
    throw new ProtocolError(ProtocolErrorCode.InternalError, ourMistake(error, log))
  }
}

function ourMistake(error: unknown, log: Log): string {
  const id = randomUUID()
  log.error('an MCP request failed', { id, cause: stackOf(error) })
  return `Pawl made a mistake; its log has the details under ${id}.`
}
