import type { Socket } from 'node:net'
import type { McpServer } from '../../domain/agent/mcp-server.ts'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import type { Child } from '../../sandbox/process/child.ts'

/** Where one of the user's servers of tools is started, or reached from: a run, or a look at it. */
export interface ServerPlace {
  /** Starts it inside the walls, with these variables and no others of ours. */
  launch(command: ServerCommand): Promise<Child>
  /** Of these paths, those that are on this machine and cannot be seen inside the walls. */
  unseen(paths: readonly string[]): Promise<readonly string[]>
  /** The way to its host, by the rules. `others`: to public hosts as well, to which it may send Pawl to be let in. */
  reach(url: URL, options: { readonly others: boolean }): ServerWay
  /** The text with all that is kept elsewhere put in. What is secret of it is hidden from now on. */
  reveal(text: string): Promise<Revealed>
  /** Where what lets Pawl in by OAuth is kept. Undefined: nobody has signed in, and nobody can here. */
  readonly tokens?: TokenKeeper | undefined
  /** What goes along with calls, so that its spans lie below ours. */
  readonly trace?: TraceContext | undefined
  /** The folder that it may take for its own. */
  readonly workspace: string
  /** Puts what the server wants to know to a person. Undefined: it cannot be asked for here. */
  ask?: ((questions: readonly ServerQuestion[]) => Promise<readonly string[] | undefined>) | undefined
}

export interface ServerCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
}

export interface ServerWay {
  open(host: string, port: number): Promise<Socket>
  close(): void
}

export interface Revealed {
  readonly text: string
  readonly secrets: readonly string[]
}

export interface ServerQuestion {
  readonly text: string
  readonly options: readonly string[]
}

/** Keeps one JSON text for each server. */
export interface TokenKeeper {
  read(server: string): Promise<string | undefined>
  write(server: string, text: string): Promise<void>
}

/** The most tools of one server that an agent is told of: more would leave its model room for nothing else. */
export const mostTools = 1_000

/** What a server said of itself. */
export interface ServerFacts {
  readonly server: string | null
  readonly version: string | null
  readonly protocol: string | null
  readonly era: 'legacy' | 'modern' | null
}

/** A look at a server: starts or reaches it, asks for its tools, and lets it go. Rejects with a `PawlError` that says what to do. */
export type LookAtServer = (
  name: string,
  server: McpServer,
  place: ServerPlace,
  signal: AbortSignal,
) => Promise<ServerFacts & { readonly tools: readonly string[] }>

/** Somebody must sign in before the server lets Pawl in. */
export const signInReason = 'sign_in'
