import { isObject } from '../base/object.ts'
import { invalid } from '../error.ts'
import type { ToolCall } from './parts.ts'
import { toolFacts, toolNamed } from './tools.ts'

/** A call as a person types it: `Bash(git push)`, `Write(docs/a.md)`, or JSON with a tool and its input. */
export function parseCall(written: string): ToolCall & { readonly input: Record<string, unknown> } {
  const text = written.trim()
  if (text.startsWith('{')) return jsonCall(text)
  const match = /^([A-Za-z_][A-Za-z0-9_.-]*)(?:\(([\s\S]*)\))?$/.exec(text)
  if (!match)
    throw invalid(
      `"${text.slice(0, 100)}" is no call; write Tool(argument), for example 'Bash(git push)', or {"tool":…,"input":…}.`,
    )
  const [, tool, argument] = match as unknown as [string, string, string | undefined]
  if (argument === undefined) return { tool, input: {} }
  const facts = toolFacts(toolNamed(tool).name)
  const field = facts?.fields[0]
  if (facts && field !== undefined)
    return { tool, input: { [field]: facts.about === 'host' && !argument.includes('://') ? `https://${argument}` : argument } }
  if (argument.trim().startsWith('{')) return { tool, input: fieldsOf(argument, `The input of ${tool}`) }
  throw invalid(`${tool} takes its input as JSON: '${tool}({"name":"value"})'.`)
}

function jsonCall(text: string): ToolCall & { input: Record<string, unknown> } {
  const { tool, input = {}, ...more } = fieldsOf(text, 'The call')
  if (typeof tool !== 'string' || tool === '' || !isObject(input) || Object.keys(more).length > 0)
    throw invalid('The call must be written {"tool":"Bash","input":{"command":"git push"}}.')
  return { tool, input: input as Record<string, unknown> }
}

function fieldsOf(text: string, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw invalid(`${what} is not a JSON object.`)
}
