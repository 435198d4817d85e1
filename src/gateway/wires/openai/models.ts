import type { JsonObject } from '../model-request.ts'

/** What OpenAI's own models take; by their names, because the service refuses what a model does not know. */
export const isOpenai = (target: string) => /^(openai\/)?(gpt-(?!oss)|chatgpt|o\d|codex)/.test(target)
/** Whether a model may be told how much to think. */
export const takesEffort = (target: string) =>
  /^(openai\/)?(gpt-([5-9]|oss|\d{2})|o\d|codex)/.test(target) && !target.includes('-chat')

/** Asked for "an object", with no word of what is in it. */
export const isAnyObject = (schema: JsonObject) => schema.type === 'object' && Object.keys(schema).length === 1
export const anyObject: JsonObject = { type: 'object' }

/** OpenAI refuses an object of which it is not said what is in it. */
export const parametersOf = (schema: JsonObject): JsonObject =>
  (schema.type ?? 'object') === 'object' && schema.properties === undefined
    ? { type: 'object', ...schema, properties: {} }
    : schema

export function listed(models: readonly string[], path: string): JsonObject | undefined {
  const wanted = /\/models\/(.+)$/.exec(path)?.[1]
  if (wanted === undefined) return { object: 'list', data: models.map(entry) }
  const id = decodeURIComponent(wanted)
  return models.includes(id) ? entry(id) : undefined
}
const entry = (id: string) => ({ id, object: 'model', created: 1_735_689_600, owned_by: 'pawl' })
