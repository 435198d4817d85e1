import type { z } from 'zod'
import type { AgentEvent } from './domain/event.ts'
import type { Category, Outcome } from './domain/outcome.ts'
import type { Usage } from './domain/usage.ts'
import type { Child } from './process/child.ts'

/** Speaks to one kind of agent program. The engine knows nothing of any agent beyond this. */
export interface Adapter<Options = unknown> {
  /** Stable: stored with every task. */
  readonly name: string
  readonly title: string
  /** Strict: an option it does not know is refused, never ignored. */
  readonly options: z.ZodType<Options>
  readonly can: Abilities
  /** The program is Pawl's own: it may run where no walls can be built. */
  readonly isOurs?: boolean
  /** An agent entry that exists without any configuration, if the program needs none. */
  readonly builtin?: { readonly name: string; readonly options: Options } | undefined

  /** Installed? Which version? Logged in? Answers within five seconds, never throws. */
  probe(options: Options, place: ProbePlace): Promise<AgentHealth>

  /** How to launch it, as data: the sandbox decides how it is really run. Throws a `PawlError` for what it cannot do. */
  command(spec: LaunchSpec<Options>): Command

  /** Takes over a started child. Warm adapters serve many turns, the others one. */
  open(child: Child, spec: LaunchSpec<Options>): Conversation
}

/** What an adapter can do; API, CLI and page adapt to it, and what is missing is refused by name. */
export const abilities = [
  'resume',
  'fork',
  'preassignSession',
  'askPermission',
  'askQuestion',
  'warm',
  'usage',
  'compact',
  'mcp',
  'systemPrompt',
  'structuredOutput',
  'ownLogin',
  'model',
] as const
export type Ability = (typeof abilities)[number]
export type Abilities = Readonly<Record<Ability, boolean>>
export const canOnly = (...able: Ability[]): Abilities =>
  Object.fromEntries(abilities.map((name) => [name, able.includes(name)])) as Record<Ability, boolean>

/** Where a program is looked for. Passed in, because the environment is read in one place only. */
export interface ProbePlace {
  /** The search path that runs will have. */
  readonly path: string
  /** What a relative command is relative to. Unknown: it is looked up in the workspace of each task. */
  readonly folder?: string | undefined
}

export interface AgentHealth {
  readonly installed: boolean
  readonly version?: string | undefined
  /** Undefined where the program needs no login, or cannot tell. */
  readonly loggedIn?: boolean | undefined
  readonly healthy: boolean
  readonly detail: string
  /** What to do about it, as a command where there is one. */
  readonly fix?: string | undefined
}

export interface LaunchSpec<Options = unknown> {
  readonly options: Options
  readonly model?: string | undefined
  readonly systemPrompt?: string | undefined
  readonly prompt: string
  /** The paths as the agent will see them inside its walls. */
  readonly workspace: string
  readonly home: string
  /** The program's own id of a conversation to go on with. */
  readonly resume?: string | undefined
  readonly extraArgs: readonly string[]
}

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  /** Added to the fresh environment that the walls build; nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Files to put into the session home before the start, by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined
}

export interface Conversation {
  /**
   * One prompt to its end: emits events and winds down when `turn.signal` aborts.
   * Resolves whatever the agent does; what the verdict means for the task is the engine's business.
   */
  turn(turn: Turn): Promise<Verdict>
  close(): Promise<void>
}

export interface Turn {
  readonly prompt: string
  readonly signal: AbortSignal
  /** Records a fact about the agent. Waits when the journal is behind: the adapter must await it before it reads on. */
  emit(event: AgentEvent): Promise<void> | void
}

/** How a turn ended, as the adapter saw it. Hard facts known to the engine (signal, timeout, cancel) outrank it. */
export interface Verdict {
  readonly outcome: Extract<Outcome, 'succeeded' | 'partial' | 'empty' | 'failed' | 'blocked'>
  readonly category?: Category | undefined
  /** One sentence for the person; the details stay in the raw log. */
  readonly message?: string | undefined
  /** The answer, also when the outcome is bad: text is never thrown away. */
  readonly text: string
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
  /** The program's own id of the conversation, as it came back. */
  readonly vendorSession?: string | undefined
  /** A time the program named after which it will work again. */
  readonly retryAt?: Date | undefined
}
