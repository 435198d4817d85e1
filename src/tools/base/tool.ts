import { z } from 'zod'
import { PawlError } from '../../domain/error.ts'
import type { QuestionAsked } from '../../domain/question/question.ts'
import type { SubtaskVerbs } from '../../domain/task/subtask.ts'
import { refusalOf } from './refusal.ts'

/** What the engine does for the tools of the run that calls them. A resolved promise means: it is stored. */
export interface ToolVerbs {
  /** The answers, in that order, if somebody watches and gives all of them soon; else they come with a later message. */
  consult(questions: readonly QuestionAsked[]): Promise<readonly string[] | undefined>
  /** A message to the user beside the answer. */
  notify(text: string): Promise<void>
  /** Undefined where they are not served. */
  readonly subtasks?: SubtaskVerbs | undefined
}

/** A tool as the model sees it, and what it does. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
  readonly annotations: ToolAnnotations
  /** The text for the model. Refuses input that does not fit with a sentence that says how it should be. Winds down when `signal` aborts. */
  call(input: unknown, verbs: ToolVerbs, signal: AbortSignal): Promise<string>
}

/** What programs that ask before risky tools look at. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Talking to the user changes nothing and reaches nobody else: programs need not ask before it. */
const harmless: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
export const reading: ToolAnnotations = { ...harmless, readOnlyHint: true, idempotentHint: true }
export const changing: ToolAnnotations = { ...harmless, destructiveHint: true }
export const reaching: ToolAnnotations = { ...changing, openWorldHint: true }

export function tool<Shape extends z.ZodRawShape>(definition: {
  name: string
  description: string
  input: z.ZodObject<Shape, z.core.$strict>
  annotations?: ToolAnnotations
  run(input: z.infer<z.ZodObject<Shape, z.core.$strict>>, verbs: ToolVerbs, signal: AbortSignal): Promise<string>
}): Tool {
  const { name, description, input, annotations = harmless, run } = definition
  // Programs hand this on to models; some of these refuse a schema that names its dialect.
  const { $schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations,
    async call(given, verbs, signal) {
      const parsed = input.safeParse(given)
      if (!parsed.success)
        throw new PawlError('invalid', refusalOf(parsed.error.issues, { tool: name, keys: Object.keys(input.shape) }))
      return run(parsed.data, verbs, signal)
    },
  }
}
