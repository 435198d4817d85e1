import { z } from 'zod'
import { defaultGuardrails, type GuardrailSettings } from '../domain/run/guardrails.ts'
import { ModelPattern } from './money-entry.ts'

const times = z
  .int({ error: 'must be a whole number of at least 0' })
  .min(0, { error: 'must be a whole number of at least 0' })
  .optional()

const shape = {
  sameError: times.describe('How often a tool may fail in a row with the same error; 0 for no limit.'),
  sameCall: times.describe('How often the very same call may be made in a row; 0 for no limit.'),
  silentTurns: times.describe('How many turns in a row may be without a word and without a tool; 0 for no limit.'),
  todoOnly: times.describe('After how many turns that only kept a list of things to do you are warned; 0 for never.'),
  eventsPerSecond: times.describe('What an agent may tell in each of ten seconds; 0 for no limit.'),
}

export const GuardrailsEntry = z.strictObject({
  ...shape,
  models: z
    .record(ModelPattern, z.strictObject(shape))
    .nullish()
    .describe('Other numbers for models whose name fits, as in "gpt-5*".'),
})
type GuardrailsEntry = z.output<typeof GuardrailsEntry>

/** What is said of each model is laid over what is said of all, and that over the defaults. */
export function guardrailsOf(entry: GuardrailsEntry | null | undefined): GuardrailSettings {
  const { models, ...common } = entry ?? {}
  const said = <T extends object>(part: T) =>
    Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)) as {
      [K in keyof T]?: Exclude<T[K], undefined>
    }
  return {
    ...defaultGuardrails,
    ...said(common),
    models: Object.fromEntries(Object.entries(models ?? {}).map(([pattern, own]) => [pattern, said(own)])),
  }
}
