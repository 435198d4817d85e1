import { z } from 'zod'
import type { Verdict } from '../agent.ts'
import { invalid, messageOf } from '../domain/error.ts'

type Schema = Readonly<Record<string, unknown>>

/** An answer that was asked for in a form and does not have it is no success, whatever the program says. Text around the JSON is taken off. */
export function checkAnswer(schema: Schema | null, verdict: Verdict): Verdict {
  if (schema === null || verdict.outcome !== 'succeeded') return verdict
  const answer = jsonIn(verdict.text)
  const fault = answer === undefined ? 'it is no JSON' : faultIn(schema, answer.value)
  if (fault === undefined) return { ...verdict, text: answer!.text }
  return {
    ...verdict,
    outcome: 'failed',
    category: 'invalid_output',
    message: `The answer does not have the form that was asked for: ${fault}.`,
  }
}

/** Refuses a schema that cannot be checked, before any work is done for it. */
export function assertSchema(schema: Schema): void {
  try {
    compile(schema)
  } catch (error) {
    throw invalid(`The output schema is no JSON schema that can be checked: ${messageOf(error)}.`)
  }
}

/** For programs that cannot be held to a form by themselves. */
export const schemaInstruction = (schema: Schema) =>
  `Answer with JSON alone, without any text around it, that fits this JSON schema:\n${JSON.stringify(schema, null, 2)}`

const compile = (schema: Schema) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])

function faultIn(schema: Schema, value: unknown): string | undefined {
  const checked = compile(schema).safeParse(value)
  if (checked.success) return undefined
  const faults = checked.error.issues.slice(0, 3).map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`)
  return faults.join('; ').slice(0, 1_000)
}

/** The whole text, or the one fenced block in it. */
function jsonIn(text: string): { text: string; value: unknown } | undefined {
  const blocks = fencedBlocks(text)
  for (const candidate of [text.trim(), ...(blocks.length === 1 ? blocks : [])]) {
    try {
      return { text: candidate, value: JSON.parse(candidate) }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return undefined
}

/** Line by line, each looked at once: an answer may consist of fences that are never closed. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let inside: string[] | undefined
  for (const line of text.split('\n')) {
    if (inside === undefined) {
      if (opensFence.test(line)) inside = []
    } else if (inside.length > 0 && closesFence.test(line)) {
      blocks.push(inside.join('\n'))
      inside = undefined
    } else inside.push(line)
  }
  return blocks
}

const opensFence = /^```(?:json)?[ \t]*$/
const closesFence = /^```[ \t]*\r?$/
