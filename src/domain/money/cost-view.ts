import { z } from 'zod'
import { costGroups, costKnowledge } from './cost.ts'

const Time = z.iso.datetime()
const Tokens = z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() })

export const CostSum = z.object({
  usd: z.number().nullable().describe('What it cost, as far as prices are known; null if none is.'),
  countedUsd: z
    .number()
    .describe('What counts against budgets: of an unknown price, as if it were the dearest that is commonly used.'),
  known: z.enum(costKnowledge).describe('The program told it, the price table did, or some of it has no known price.'),
  tokens: Tokens,
  turns: z.number(),
})
export type CostSum = z.infer<typeof CostSum>

export const CostView = z.object({
  since: Time,
  until: Time.nullable(),
  timeZone: z.string().describe('Where days begin.'),
  by: z.enum(costGroups),
  total: CostSum,
  items: z.array(CostSum.extend({ key: z.string() })).describe('The dearest first; 500 at most.'),
  unpriced: z.array(z.string()).describe('Models whose price nobody knows; name it under `prices:` in the settings.'),
  caps: z
    .object({ dayUsd: z.number().nullable(), monthUsd: z.number().nullable(), userDayUsd: z.number().nullable() })
    .describe('What everything together, and one user, may use.'),
})
export type CostView = z.infer<typeof CostView>

const dollars = z.number()
export const PriceView = z.object({
  model: z.string().describe('A name, in which * stands for anything.'),
  input: dollars.describe('US dollars for a million tokens, as all but pieces.'),
  output: dollars,
  cacheRead: dollars,
  cacheWrite: dollars,
  cacheWriteHour: dollars.optional().describe('Kept for an hour; as cacheWrite if left out.'),
  reasoning: dollars.optional().describe('As output if left out.'),
  pieces: z.record(z.string(), dollars).optional().describe('US dollars for one piece.'),
  long: z
    .object({ above: z.number(), input: dollars, output: dollars })
    .optional()
    .describe('For all tokens of a call into which more than so many go.'),
  from: z.enum(['settings', 'list']),
})
export type PriceView = z.infer<typeof PriceView>

export const PriceListView = z.object({
  asOf: z.string().nullable().describe('Of when the list is that comes with Pawl.'),
  sources: z.array(z.string()).describe('Where its prices stood.'),
  items: z
    .array(PriceView)
    .describe('Of those that fit a model, the longest counts, and those of the settings before those of the list.'),
})
export type PriceListView = z.infer<typeof PriceListView>

export const CostQuery = z.strictObject({
  since: Time.optional().describe('Today, where the settings say a day begins, if left out.'),
  until: Time.optional(),
  by: z.enum(costGroups).default('agent'),
})
export type CostQuery = z.input<typeof CostQuery>

export const TaskCost = z.object({
  usd: z.number().nullable().describe('Of its own runs, as far as prices are known.'),
  totalUsd: z.number().nullable().describe('With everything below it.'),
  known: z.enum(costKnowledge),
})
export type TaskCost = z.infer<typeof TaskCost>
