import { PawlError } from '../../domain/error.ts'
import type { Fetcher } from '../../sandbox/egress/fetch.ts'
import type { Files } from '../files/files.ts'

/** What the tools of one run work with. */
export interface StrictParts {
  readonly files: Files
  /** Resolves if the call may be made, and rejects with a sentence if it may not. Paths in the input are where they really lead. */
  gate(tool: string, input: Readonly<Record<string, unknown>>): Promise<void>
  /** May the content of this file be looked at in a search, without asking anybody? */
  mayRead(path: string): boolean
  readonly fetch?: Fetcher | undefined
  readonly runInside?: RunInside | undefined
}

/** Runs a command of the shell in walls like those of the run, in its workspace. Resolves however it ends; what is longer than `mostBytes` loses its middle. */
export type RunInside = (
  command: string,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly mostBytes: number },
) => Promise<Ran>

export interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: string | null
  readonly timedOut: boolean
}

export type Permit = (request: {
  readonly tool: string
  readonly input: unknown
}) => Promise<{ readonly allow: true } | { readonly allow: false; readonly message: string }>

/** As programs name our tools, so that rules know whose they are. */
export const gateBy =
  (permit: Permit): StrictParts['gate'] =>
  async (tool, input) => {
    const permission = await permit({ tool: `mcp__pawl__${tool}`, input })
    if (!permission.allow) throw new PawlError('denied', permission.message)
  }
