import { resolve } from 'node:path'
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'
import { type Fields, fieldsOf, isObjectOrArray } from '../../domain/base/object.ts'
import { visibleExactly } from '../../domain/base/visible.ts'
import { type KnownTool, toolFacts, toolNamed } from '../../domain/rule/tools.ts'

/** A call of a tool as an editor shows it. */
export interface ShownCall {
  readonly title: string
  readonly name: string
  readonly kind: ToolKind
  readonly locations: ToolCallLocation[]
  readonly content: ToolCallContent[]
  readonly rawInput: unknown
}

const kinds: Partial<Record<KnownTool, ToolKind>> = {
  Bash: 'execute',
  Read: 'read',
  ReadDocument: 'read',
  LS: 'read',
  Write: 'edit',
  Glob: 'search',
  Grep: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Plan: 'think',
}

const mostTitleChars = 200

export function shownCall(tool: string, input: unknown, folder: string): ShownCall {
  const { name, own } = toolNamed(tool)
  const given = fieldsOf(input)
  const paths = pathsIn(name, given).map((path) => resolve(folder, path))
  const line = numberIn(given, 'line', 'offset')
  const subject = textIn(given, ...(toolFacts(name)?.fields ?? []), 'pattern', 'query', 'description') ?? paths[0] ?? ''
  const words = name === 'Bash' ? subject || own : `${own} ${subject}`
  return {
    title: visibleExactly(words.trim()).replaceAll(/\s+/g, ' ').slice(0, mostTitleChars) || tool,
    name: tool,
    kind: kinds[name as KnownTool] ?? 'other',
    locations: paths.map((path, n) => (n === 0 && line !== undefined ? { path, line } : { path })),
    content: name === 'Write' && paths[0] !== undefined ? diffsOf(given, paths[0]) : [],
    rawInput: input,
  }
}

/** What is changed, as far as the input says so: a piece for another, several of them, or the whole file. */
function diffsOf(input: Fields, path: string): ToolCallContent[] {
  const edits = Array.isArray(input.edits) ? input.edits.map(fieldsOf) : [input]
  return edits.flatMap((edit): ToolCallContent[] => {
    const oldText = textIn(edit, 'old_string', 'oldText', 'old_str', 'oldString')
    const newText = textIn(edit, 'new_string', 'newText', 'new_str', 'newString', 'content', 'file_text')
    return newText === undefined ? [] : [{ type: 'diff', path, newText, ...(oldText === undefined ? {} : { oldText }) }]
  })
}

function pathsIn(name: string, input: Fields): string[] {
  const facts = toolFacts(name)
  if (facts?.about !== 'path') return []
  const found = facts.fields.map((field) => input[field]).find((value) => value !== undefined)
  if (typeof found === 'string') return [found]
  if (Array.isArray(found)) return found.flatMap((change: unknown) => textIn(fieldsOf(change), 'path') ?? [])
  return isObjectOrArray(found) ? Object.keys(found) : []
}

const textIn = (fields: Fields, ...names: readonly string[]) =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string' && value !== '')
const numberIn = (fields: Fields, ...names: readonly string[]) =>
  names.map((name) => fields[name]).find((value): value is number => Number.isInteger(value) && (value as number) >= 0)
