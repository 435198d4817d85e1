import type { Turn } from '../port.ts'
import { readJson } from './json.ts'
import { readJsonl } from './jsonl.ts'
import type { CustomOptions } from './options.ts'
import { readText } from './text.ts'

/** Takes a program's stdout as it comes and says in the end what was in it. */
export interface Output {
  push(chunk: Buffer): Promise<void>
  /** `whole` is false when the program was stopped: the rest is kept, not judged. */
  end(options: { whole: boolean }): Promise<Said>
}

export interface Said {
  readonly text: string
  readonly session?: string | undefined
  readonly costUsd?: number | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  /** The program itself says that it failed. */
  readonly error?: string | undefined
  /** Why the output cannot count as an answer. */
  readonly broken?: { readonly category: 'protocol_error' | 'output_limit' | 'crashed'; readonly message: string } | undefined
}

export function readOutput(options: CustomOptions, turn: Turn): Output {
  switch (options.output) {
    case 'text':
      return readText(turn)
    case 'json':
      return readJson(turn, options.map)
    case 'jsonl':
      return readJsonl(turn, options.map ?? {})
  }
}
