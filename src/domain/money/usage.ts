import { z } from 'zod'

/** Tokens of one run alone, never cumulative over a session. */
export const Usage = z.object({
  inputTokens: z.number().int().min(0).default(0),
  outputTokens: z.number().int().min(0).default(0),
  cacheReadTokens: z.number().int().min(0).default(0),
  cacheWriteTokens: z.number().int().min(0).default(0),
  turns: z.number().int().min(0).default(0),
})
export type Usage = z.infer<typeof Usage>
