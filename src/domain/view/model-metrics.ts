import { z } from 'zod'

const Time = z.iso.datetime()
const Ms = z.number().nullable()

/** How one model of one provider did in a time, by the calls that went through the gateway. */
export const ModelFigures = z.object({
  model: z.string().describe("The provider's own name for it."),
  provider: z.string(),
  calls: z.number(),
  refused: z.number().describe('Calls that gave no answer, or none that was whole.'),
  refusals: z.record(z.string(), z.number()).describe('The same by their kind.'),
  firstMs: z.object({ p50: Ms, p99: Ms }).describe('Until the first of an answer came.'),
  tokensPerSecond: z
    .number()
    .nullable()
    .describe('Of the output, from the first of an answer to its end; the median of the calls.'),
  cacheHits: z.number().nullable().describe('The part of all input that came from the cache, from 0 to 1.'),
  outputTokens: z.number(),
})
export type ModelFigures = z.infer<typeof ModelFigures>

export const ModelFiguresView = z.object({ since: Time, until: Time.nullable(), items: z.array(ModelFigures) })
export type ModelFiguresView = z.infer<typeof ModelFiguresView>

export const ModelFiguresQuery = z.strictObject({
  since: Time.optional().describe('24 hours ago, if left out.'),
  until: Time.optional(),
})
export type ModelFiguresQuery = z.input<typeof ModelFiguresQuery>
