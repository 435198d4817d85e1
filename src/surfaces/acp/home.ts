import type { McpServers } from '../../domain/agent/mcp-server.ts'
import type { Event } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import type { NewTask } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'

/** The Pawl that an editor speaks to through us. It may be a daemon that goes away and comes back, perhaps at another address. */
export interface AcpHome {
  /** The engine lives in this process, and what it does ends with it. */
  readonly isOwn: boolean
  /** Sessions may work in a home folder. */
  readonly allowHome?: boolean | undefined
  /** Asks something that may be asked twice: if the daemon goes away meanwhile, it is asked again when there is one. */
  use<T>(ask: (runtime: Runtime) => Promise<T>): Promise<T>
  /** Every event of a task after `after`, each once and in order, until the signal aborts. */
  follow(task: string, options: FollowTask): AsyncIterable<Event>
  /** The agent for a task in that folder, as the settings there have it, with these servers of tools beside its own. */
  chooseAgent(
    folder: string,
    wanted: Pick<NewTask, 'agent' | 'profile'> & { readonly servers?: McpServers | undefined },
  ): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile'>>
  /** Whether the settings there leave it open which servers of tools the agent has; else it gets none but theirs. */
  takesServers(folder: string, agent: string): Promise<boolean>
  /** Servers of tools, written as in settings: those that may be used, and of each other why not. */
  readServers(entries: Readonly<Record<string, unknown>>): Promise<{
    readonly servers: McpServers
    readonly refused: readonly { readonly name: string; readonly why: string }[]
  }>
  /** Sees to it that a task which is nobody's is run. */
  adopt(task: string): Promise<void>
}

export interface FollowTask {
  readonly after: number
  readonly signal: AbortSignal
  onGrowing?(growing: Growing | undefined): void
}

/** Who asks, as the journal has it. */
export const caller = { by: 'acp' } as const
