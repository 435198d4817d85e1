import type { RequestStateCodec, ServerContext } from '@modelcontextprotocol/server'
import { mayUse, type Right, type Standing } from '../../domain/auth/role.ts'
import { denied } from '../../domain/error.ts'
import type { Caller, Runtime } from '../../operations/runtime.ts'

/** The verbs that MCP is a view of. */
export type McpRuntime = Pick<
  Runtime,
  | 'createTask'
  | 'getTask'
  | 'listTasks'
  | 'cancelTask'
  | 'retryTask'
  | 'acceptTask'
  | 'rejectTask'
  | 'readEvents'
  | 'followFeed'
  | 'listQuestions'
  | 'getQuestion'
  | 'answerQuestion'
  | 'listAgents'
  | 'getSession'
  | 'listChanges'
  | 'readDiff'
>

/** The two ways in which MCP is spoken: with a handshake and sessions (2025-11-25 and before), or each request for itself (2026-07-28). */
export type Era = 'legacy' | 'modern'

/** Who asks. What they may do is looked up at each request. */
export interface Who {
  readonly caller: Caller
  readonly standing: Standing
}

/** What a call that waits for a person carries through the client, sealed: the task that it made, and what was asked in which words. */
export interface RunState {
  readonly task: string
  readonly asked: Readonly<Record<string, string>>
}

/** One request, with all that is needed to serve it. */
export interface Call {
  readonly runtime: McpRuntime
  readonly who: Who
  readonly era: Era
  readonly ctx: ServerContext
  readonly seal: RequestStateCodec<RunState>
  /** The client can put a question to a person. */
  readonly canElicit: boolean
  /** The client takes a task in the place of a result, and asks for one if its era has it ask. */
  readonly takesTask: boolean
  /** Where tasks work that name no folder. */
  readonly workspace?: string | undefined
  /** That folder may be a home folder, which no client can say of another. */
  readonly allowHome?: boolean | undefined
  /** Has a task run here if nobody else would. */
  readonly adopt?: ((task: string) => Promise<void>) | undefined
}

export function assertMay(right: Right, { standing }: Who): void {
  if (!mayUse(right, standing))
    throw denied(`This is not for a token with the role ${standing}; it needs the right "${right}". Ask with another token.`)
}
