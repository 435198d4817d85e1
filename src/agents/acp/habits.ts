import type { LaunchSpec, Verdict } from '../../agent.ts'
import type { Usage } from '../../domain/usage.ts'

/** What one program does in its own way where the protocol leaves it free, or where it does not keep to it. */
export interface Habits {
  /** The method by which it is let in, of those it offers. Undefined: it lets us in unasked. */
  authenticate?(spec: LaunchSpec, offered: readonly string[]): string | undefined
  /** False: its `session/load` is not to be used, whatever it says of itself. */
  readonly load: boolean
  /** The mode to begin in, of those it offers. Undefined: its own choice. */
  mode?(spec: LaunchSpec, offered: readonly string[]): string | undefined
  /** The model to ask for once the session is there. Undefined: it was told at its start. */
  model?(spec: LaunchSpec): string | undefined
  /** Our tools and others, as it wants them in `session/new`; by default the door's over HTTP where it offers that. */
  mcpServers?(spec: LaunchSpec, can: { readonly http: boolean; readonly sse: boolean }): readonly Record<string, unknown>[]
  /** What an error of the protocol means. Undefined: as for any program. */
  judge?(error: AcpError): Pick<Verdict, 'category' | 'message' | 'retryAt'> | undefined
  /** What a turn used, from the answer to `session/prompt` or from updates that only this program sends. */
  usage?(answer: Readonly<Record<string, unknown>>): Usage | undefined
  /** The tool and its input as rules name them, from a call as the protocol tells it. Undefined: its title and raw input. */
  tool?(call: Readonly<Record<string, unknown>>): { readonly name: string; readonly input: unknown } | undefined
}

export interface AcpError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}
