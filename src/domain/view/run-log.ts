import { z } from 'zod'
import { RunId } from '../id.ts'

/** A piece of what the program of a run wrote. */
export const RunLogPart = z.object({
  run: RunId,
  stream: z.enum(['stdout', 'stderr']),
  start: z.int().describe('Of the first byte.'),
  end: z.int().describe('Behind the last byte; ask for what follows from here on.'),
  size: z.int().describe('All bytes there are by now.'),
  text: z.string(),
})
export type RunLogPart = z.infer<typeof RunLogPart>
