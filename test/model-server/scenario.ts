import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../../src/domain/base/nearest.ts'
import { PawlError } from '../../src/domain/error.ts'
import { unknownPlaceholders } from './placeholders.ts'
import { failureKinds } from './reply.ts'

/** Text in which placeholders stand for what the model saw; a misspelt one is refused when the file is read. */
const scriptText = z.string().refine((text) => unknownPlaceholders(text).length === 0, {
  error: (issue) => `unknown placeholder ${unknownPlaceholders(String(issue.input)).join(', ')}`,
})

const toolCall = z.union([
  z.strictObject({ tool: z.literal('shell'), args: z.strictObject({ command: scriptText }) }),
  z.strictObject({ tool: z.literal('write'), args: z.strictObject({ path: scriptText, content: scriptText }) }),
  z.strictObject({ tool: z.literal('read'), args: z.strictObject({ path: scriptText }) }),
  z.strictObject({
    tool: z.literal('ask'),
    args: z.strictObject({ question: scriptText, header: z.string().max(12), options: z.array(z.string()).min(2).max(4) }),
  }),
  z.strictObject({ tool: z.string().regex(/^mcp:[\w-]+\/[\w-]+$/), args: z.record(z.string(), z.json()) }),
  z.strictObject({ tool: z.string().regex(/^named:[\w-]+$/), args: z.record(z.string(), z.json()) }),
])
export type ScriptedCall = z.infer<typeof toolCall>

const error = z.strictObject({
  kind: z.enum(failureKinds),
  /** Each of these replaces what the wire format's provider would say. */
  status: z.int().min(400).max(599).optional(),
  type: z.string().optional(),
  message: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  retryAfterSeconds: z.int().min(0).optional(),
  resetsInSeconds: z.int().min(0).optional(),
  /** The stream begins with status 200 and the refusal comes inside it. */
  inStream: z.boolean().default(false),
})

const afterChunks = z.strictObject({ afterChunks: z.int().min(0).default(0) })

const usage = z.strictObject({
  input: z.int().default(120),
  output: z.int().default(15),
  cacheRead: z.int().default(40),
  cacheWrite: z.int().default(0),
  reasoning: z.int().default(3),
})
export const defaultUsage = usage.parse({})

const step = z
  .strictObject({
    /** Said before everything else, as the format's models think aloud. */
    thinking: scriptText.optional(),
    text: scriptText.optional(),
    toolCall: toolCall.optional(),
    /** Several calls in one answer, which the program may run side by side. */
    toolCalls: z.array(toolCall).min(2).optional(),
    /** An answer in the shape the program asked for: its structured-output tool where it offers one, JSON text otherwise. */
    json: z.record(z.string(), z.json()).optional(),
    error: error.optional(),
    stall: afterChunks.optional(),
    cut: afterChunks.optional(),
    malformed: afterChunks.optional(),
    slow: z.strictObject({ msPerChunk: z.int().min(1) }).optional(),
    usage: usage.optional(),
    repeat: z.union([z.int().min(1), z.literal('always')]).default(1),
  })
  .refine(
    (it) => it.error === undefined || (it.text ?? it.toolCall ?? it.toolCalls ?? it.json) === undefined,
    'an error says nothing else',
  )
  .refine((it) => (it.error ?? it.text ?? it.toolCall ?? it.toolCalls ?? it.json) !== undefined, 'a step answers or refuses')
export type Step = z.infer<typeof step>

export const scenarioSchema = z.strictObject({
  about: z.string(),
  steps: z.array(step).min(1),
  /** What the second and every later prompt of one conversation gets; `steps` again when absent. */
  laterSteps: z.array(step).min(1).optional(),
  /** What a conversation gets instead whose first prompt has this text in it. */
  instead: z.array(z.strictObject({ has: z.string().min(1), steps: z.array(step).min(1) })).optional(),
  /** From a prompt that says `play <scenario>` on, that scenario is played as if the conversation had begun there. */
  playsAsAsked: z.boolean().optional(),
})
export type Scenario = z.infer<typeof scenarioSchema>
export type ScenarioInput = z.input<typeof scenarioSchema>
export type Scenarios = ReadonlyMap<string, Scenario>

/** The scenarios of the folder, and those given by the caller, which win. */
export function loadScenarios(given: Readonly<Record<string, ScenarioInput>> = {}): Scenarios {
  const folder = join(import.meta.dirname, 'scenarios')
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  const scenarios = new Map(
    files.map((file) => [basename(file, '.json'), parse(file, JSON.parse(readFileSync(join(folder, file), 'utf8')))]),
  )
  for (const [name, scenario] of Object.entries(given)) scenarios.set(name, parse(name, scenario))
  return scenarios
}

export function findScenario(scenarios: Scenarios, name: string): Scenario {
  const found = scenarios.get(name)
  if (found) return found
  throw new PawlError('not_found', `There is no scenario "${name}"${didYouMean(name, scenarios.keys())}`)
}

function parse(name: string, value: unknown): Scenario {
  const parsed = scenarioSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new PawlError('invalid', `The scenario "${name}" is not well formed: ${z.prettifyError(parsed.error)}`)
}
