import { createHash } from 'node:crypto'
import type { PermissionRequest } from '../../agents/port.ts'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { isObject } from '../../domain/base/object.ts'
import type { ExactCall } from '../../domain/question/question.ts'
import { toolNamed } from '../../domain/rule/tools.ts'

/** What a decision is bound to: this tool with exactly this input. Only what a program says to explain itself is left out, because nothing is done with it. */
export function exactCall({ tool, input }: PermissionRequest): ExactCall {
  const { name, own } = toolNamed(tool)
  const done = explained.has(name) ? withoutWords(input) : input
  return {
    tool: own,
    inputDigest: createHash('sha256')
      .update(canonicalJson(done ?? {}))
      .digest('hex'),
    input: shown(input),
  }
}

const longestShown = 20_000

function shown(input: unknown): string {
  const text = JSON.stringify(input ?? {}, null, 2)
  const more = text.length - longestShown
  return more > 0 ? `${text.slice(0, longestShown).toWellFormed()}…\n[${more} more characters are not shown]` : text
}

/** Tools of which it is known that these fields are for people. */
const explained: ReadonlySet<string> = new Set(['Bash', 'Write'])

function withoutWords(input: unknown): unknown {
  if (!isObject(input)) return input
  const { description: _, reason: __, ...rest } = input as Record<string, unknown>
  return rest
}
