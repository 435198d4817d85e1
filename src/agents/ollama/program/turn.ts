import type { Call, History } from './history.ts'
import type { ServedTools } from './mcp.ts'
import type { Addresses, ModelFacts, Settings } from './settings.ts'
import type { Returned } from './tool.ts'

export type Said =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** Of what comes whole as `text` or `thinking` later. */
  | { readonly type: 'piece'; readonly voice: 'message' | 'thinking'; readonly text: string }
  | { readonly type: 'tool'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly id: string; readonly output: string; readonly isError: boolean }
  | { readonly type: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly type: 'compacted'; readonly tokensBefore: number }
  | { readonly type: 'note'; readonly text: string }

export interface Decision {
  readonly allow: boolean
  readonly message?: string | undefined
  /** A person was asked: the turn is over, and the answer comes with another. */
  readonly stop?: boolean | undefined
}

export interface Turn {
  readonly prompt: string
  readonly model: ModelFacts
  readonly signal: AbortSignal
  say(said: Said): void
  permit(call: Call): Promise<Decision>
}

export interface Loop {
  readonly settings: Settings
  readonly addresses: Addresses
  readonly history: History
  readonly servers: readonly ServedTools[]
}

export type Ended = { readonly status: 'done' | 'stopped' | 'blocked'; readonly text: string }

/** What a call came to: kept first, then told. */
export function answered({ history }: Loop, turn: Turn, call: Call, { output, images, isError = false }: Returned): void {
  const content = isError ? `Error: ${output}` : output
  history.add({ role: 'tool', content, callId: call.id, name: call.name, ...(images ? { images } : {}) })
  turn.say({ type: 'tool_result', id: call.id, output, isError })
}
