import { z } from 'zod'
import { costKnowledge } from './cost.ts'
import { Usage } from './usage.ts'

/** What all runs of a task came to together. Its subtasks have their own. */
export const Totals = z.object({
  runs: z.number().int(),
  durationMs: z.number(),
  usage: Usage,
  costUsd: z.number().optional(),
  known: z.enum(costKnowledge).optional(),
})
export type Totals = z.infer<typeof Totals>
