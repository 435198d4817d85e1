import { isObjectOrArray } from '../../domain/base/object.ts'
import { briefOf } from '../../domain/task/summary.ts'
import type { LastAction } from '../../store/actions.ts'

/** What the agent of a running task does, in one line for lists. */
export function currentAction({ type, text, tool, input }: LastAction): string | null {
  if (type === 'agent.message') return briefOf(text ?? '') ?? null
  if (type === 'check.started') return briefOf(`checks: ${text ?? ''}`) ?? null
  return briefOf(`${tool ?? 'tool'}: ${saysMost(input)}`.replace(/: $/, '')) ?? tool
}

/** The part of a tool's input that tells most: its command or path, or the first text there is. */
function saysMost(input: string | null): string {
  if (input === null) return ''
  const value = parsed(input)
  if (!isObjectOrArray(value)) return String(value ?? '')
  const fields = value as Record<string, unknown>
  const named = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url', 'description'].map((name) => fields[name])
  const found = [...named, ...Object.values(fields)].find((field) => typeof field === 'string' && field.trim() !== '')
  return typeof found === 'string' ? found.replaceAll(/\s+/g, ' ') : Array.isArray(fields.command) ? fields.command.join(' ') : ''
}

/** It may be plain text, and it may be cut in the middle. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return /"(?:command|file_path|path)":\s*"((?:[^"\\]|\\.){1,200})/.exec(input)?.[1] ?? input
  }
}
