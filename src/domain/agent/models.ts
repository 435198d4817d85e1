import { z } from 'zod'
import { didYouMean } from '../base/nearest.ts'
import { notFound } from '../error.ts'

/** The formats in which models are asked. */
export const wireNames = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'ollama'] as const
export type WireName = (typeof wireNames)[number]

export const providerKinds = ['anthropic', 'openai', 'openai-compatible', 'gemini', 'ollama'] as const
export type ProviderKind = (typeof providerKinds)[number]

/** Where a key is kept: a variable, an absolute path, or one of Pawl's own secrets. Never the key. */
export const KeyPlace = z.union([z.object({ env: z.string() }), z.object({ file: z.string() }), z.object({ secret: z.string() })])
export type KeyPlace = z.infer<typeof KeyPlace>

/** Where models are served, with everything decided. */
export const ProviderSettings = z.object({
  kind: z.enum(providerKinds),
  baseUrl: z.string(),
  /** Undefined for a kind that speaks more than one: whichever the client speaks. */
  wire: z.enum(wireNames).optional(),
  key: KeyPlace.optional(),
  /** May it use tools of its own for a run? Undefined: where the run's network is open. */
  serverTools: z.boolean().optional(),
})
export type ProviderSettings = z.infer<typeof ProviderSettings>

export const ModelSettings = z.object({
  provider: z.string(),
  /** The provider's own name for it; the name itself if left out. */
  target: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  maxOutputTokens: z.int().positive().optional(),
})
export type ModelSettings = z.infer<typeof ModelSettings>

/** Models by name, and the providers that serve them. */
export const ModelTable = z.object({
  providers: z.record(z.string(), ProviderSettings),
  models: z.record(z.string(), ModelSettings),
})
export type ModelTable = z.infer<typeof ModelTable>

export interface ListedModel extends ModelSettings {
  readonly name: string
}

/** A model by its name or one of its aliases, with or without a mode behind it. Undefined if it is not listed: nothing but whole names fit. */
export function findModel(table: ModelTable | undefined, asked: string): ListedModel | undefined {
  if (!table) return undefined
  const wanted = withoutMode(asked)
  const own = Object.hasOwn(table.models, wanted) ? table.models[wanted] : undefined
  if (own) return { name: wanted, ...own }
  const found = Object.entries(table.models).find(([, model]) => model.aliases?.includes(wanted))
  return found && { name: found[0], ...found[1] }
}

/** Names and aliases, in the order in which they are listed. */
export const modelNames = ({ models }: Pick<ModelTable, 'models'>): string[] =>
  Object.entries(models).flatMap(([name, { aliases = [] }]) => [name, ...aliases])

/** `fast:mode=thinking` is served as `fast`. */
export const withoutMode = (model: string) => (model.includes(':mode=') ? model.replace(/:mode=[^:]*$/, '') : model)

/** What a program asks for without the mode that its settings name is recorded with it. */
export const recordedName = (own: string | undefined, asked: string) =>
  own !== undefined && withoutMode(own) === asked ? own : asked

/** One that is listed, and not for this agent. */
export const forbiddenModel = (asked: string, names: readonly string[]) =>
  notFound(
    `The model "${asked}" is not this agent's to ask for; there are ${names.join(', ')}. Its settings name others under "models".`,
  )

export const unlistedModel = (asked: string, names: readonly string[]) =>
  notFound(
    `The model "${asked}" is not served here${names.length === 0 ? '' : `; there are ${names.join(', ')}`}${didYouMean(asked, names)}`,
  )
