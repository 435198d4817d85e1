import { z } from 'zod'
import type { Price } from '../domain/money/prices.ts'

const dollars = z.number({ error: 'must be a number of US dollars' }).nonnegative({ error: 'must not be less than 0' })

/** A name of a model, in which `*` stands for anything. It becomes a key of a map. */
export const ModelPattern = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(200)
  .refine((key) => !(key in Object.prototype), { error: 'must be a name that JavaScript does not use itself' })

/** US dollars for a million tokens. */
export const PriceEntry = z.strictObject({
  input: dollars.describe('For a million tokens that are read.'),
  output: dollars.describe('For a million tokens that are written.'),
  cacheRead: dollars.optional().describe('For a million tokens that come from the cache; as input if left out.'),
  cacheWrite: dollars.optional().describe('For a million tokens that go into the cache; as input if left out.'),
  cacheWriteHour: dollars
    .optional()
    .describe('For a million tokens that are kept in the cache for an hour; as cacheWrite if left out.'),
  reasoning: dollars.optional().describe('For a million tokens that are thought and not said; as output if left out.'),
  pieces: z
    .record(ModelPattern, dollars)
    .optional()
    .describe("For one piece of what is paid by the piece, such as a search, by the provider's name for it."),
})
export type PriceEntry = z.output<typeof PriceEntry>

const isTimeZone = (name: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

export const BudgetEntry = z.strictObject({
  day: dollars.optional().describe('What all tasks together may use in one day.'),
  month: dollars.optional().describe('What all tasks together may use in one month.'),
  userDay: dollars.optional().describe('What the tasks of one user may use in one day.'),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'must be the name of a time zone, such as Europe/Berlin' })
    .optional()
    .describe('Where a day begins; UTC if left out.'),
})

export const pricesOf = (entries: Readonly<Record<string, PriceEntry>> | null | undefined): Record<string, Price> =>
  Object.fromEntries(
    Object.entries(entries ?? {}).map(([pattern, { cacheRead, cacheWrite, ...entry }]) => [
      pattern,
      { ...entry, cacheRead: cacheRead ?? entry.input, cacheWrite: cacheWrite ?? entry.input },
    ]),
  )
