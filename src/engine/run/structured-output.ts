import type { Verdict } from '../../agents/port.ts'
import { createGate } from '../../base/gate.ts'
import { onThread, type ThreadLimits } from '../../bounded/thread.ts'
import { invalid, messageOf } from '../../domain/error.ts'

type Schema = Readonly<Record<string, unknown>>

/** Checks have a thread and a few seconds: a schema of ten lines can describe work for years. Two at once, so that they never take every processor. */
const limits: ThreadLimits = { line: createGate(2), deadlineMs: 5_000 }
const mostSchemaChars = 262_144

/** An answer that was asked for in a form and does not have it is no success, whatever the program says. Text around the JSON is taken off. */
export async function checkAnswer(schema: Schema | null, verdict: Verdict): Promise<Verdict> {
  if (schema === null || verdict.outcome !== 'succeeded') return verdict
  const found = await faultIn(schema, verdict.text)
  if ('text' in found) return { ...verdict, text: found.text }
  return {
    ...verdict,
    outcome: 'failed',
    category: 'invalid_output',
    message: `The answer does not have the form that was asked for: ${found.fault}.`,
  }
}

async function faultIn(schema: Schema, text: string): Promise<{ text: string } | { fault: string }> {
  try {
    return await onThread(limits, (ask) => ask('checkAnswer', { schema: JSON.stringify(schema), text }))
  } catch (error) {
    return { fault: `it could not be checked against the output schema (${messageOf(error)})` }
  }
}

/** Refuses a schema that cannot be checked, before any work is done for it. */
export async function assertSchema(schema: Schema): Promise<void> {
  try {
    const text = JSON.stringify(schema)
    if (text.length > mostSchemaChars) throw invalid(`it has more than ${mostSchemaChars} characters`)
    await onThread(limits, (ask) => ask('assertSchema', { schema: text }))
  } catch (error) {
    throw invalid(`The output schema is no JSON schema that can be checked: ${messageOf(error).replace(/\.$/, '')}.`)
  }
}

/** For programs that cannot be held to a form by themselves. */
export const schemaInstruction = (schema: Schema) =>
  `Answer with JSON alone, without any text around it, that fits this JSON schema:\n${JSON.stringify(schema, null, 2)}`
