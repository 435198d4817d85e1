import type { Place } from './files.ts'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** It only looks, so several may be under way together. */
  readonly isHarmless?: boolean
  run(input: Readonly<Record<string, unknown>>, at: ToolPlace): Promise<Returned>
}

export interface ToolPlace extends Place {
  readonly signal: AbortSignal
  /** How much of an output is given to the model. */
  readonly maxChars: number
  readonly canSee: boolean
}

export interface Returned {
  readonly output: string
  readonly images?: readonly string[]
  readonly isError?: boolean
}

const spellings: Readonly<Record<string, readonly string[]>> = {
  path: ['path', 'filePath', 'file_path', 'filename', 'file', 'dir_path'],
  oldText: ['oldText', 'oldString', 'old_string', 'old_text'],
  newText: ['newText', 'newString', 'new_string', 'new_text'],
  replaceAll: ['replaceAll', 'replace_all'],
  command: ['command', 'cmd'],
  content: ['content', 'text'],
  pattern: ['pattern', 'query', 'regex'],
}

/** An argument under its name, or under one that models know from elsewhere. */
export function given(input: Readonly<Record<string, unknown>>, name: string): unknown {
  return (spellings[name] ?? [name]).map((each) => input[each]).find((value) => value !== undefined && value !== null)
}

export function text(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = given(input, name)
  if (typeof value !== 'string') throw new Error(`The argument "${name}" is missing, or is no text.`)
  return value
}

/** Models write numbers as text, too. */
export function number(input: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = given(input, name)
  const counted = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof counted === 'number' && Number.isFinite(counted) ? counted : undefined
}

export const flag = (input: Readonly<Record<string, unknown>>, name: string) =>
  [true, 'true'].includes(given(input, name) as never)
