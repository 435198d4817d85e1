import type { Fields } from '../../domain/base/object.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { LaunchSpec, Verdict } from '../port.ts'
import type { RpcError } from '../shared/json-rpc.ts'

/** What one program does in its own way where the protocol leaves it free, or where it does not keep to it. */
export interface Habits {
  /** What it is called in sentences. */
  readonly title?: string | undefined
  /** The method by which it is let in, of those it offers. Undefined: it lets us in unasked. */
  authenticate?(spec: LaunchSpec, offered: readonly string[]): string | undefined
  /** False: its `session/load` is not to be used, whatever it says of itself. */
  readonly load: boolean
  /** The mode to begin in, of those it offers. Undefined: its own choice. */
  mode?(spec: LaunchSpec, offered: readonly string[]): string | undefined
  /** The model to ask for once the session is there. Undefined: it was told at its start. */
  model?(spec: LaunchSpec): string | undefined
  /** Our tools and others, as it wants them in `session/new`; by default the door's over HTTP where it offers that, else by a command. */
  mcpServers?(spec: LaunchSpec, can: { readonly http: boolean; readonly sse: boolean }): readonly Fields[]
  /** It connects to our tools beside everything else, and a prompt that comes before them goes to its model without them. */
  readonly connectsLate?: boolean | undefined
  /** What only this program reads of `session/new`, as its `_meta`. */
  meta?(spec: LaunchSpec): Fields | undefined
  /** To be put before the first prompt of a new conversation: what the program has no other place for. */
  preface?(spec: LaunchSpec): string | undefined
  /** What an error of the protocol means. Undefined: as for any program. */
  judge?(error: AcpError): Pick<Verdict, 'category' | 'message' | 'retryAt'> | undefined
  /** What a turn used, from the answer to `session/prompt`. Undefined: as for any program. */
  usage?(answer: Fields): Usage | undefined
  /** The tool and its input as rules name them, from a call as the protocol tells it. Undefined: as for any program. */
  tool?(call: Fields): { readonly name: string; readonly input: unknown } | undefined
  /** What it writes to standard error, without what nobody needs to know. */
  stderr?(lines: string): string
  /** Updates that say nothing, beyond those that say nothing from any program. */
  ignores?(update: Fields): boolean
  /** The files and terminals of the client are served by an attendant inside the walls, which was started with it. */
  readonly attended?: { readonly files: boolean; readonly terminals: boolean } | undefined
}

export type AcpError = RpcError
