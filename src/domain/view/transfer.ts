import { z } from 'zod'

/** What became of an export that was taken in. */
export const Imported = z.object({
  imported: z.array(z.string()).describe('Tasks that are here now.'),
  skipped: z.array(z.string()).describe('Tasks that were here already.'),
  cut: z.string().nullable().describe('The export ends within this task, which was not taken.'),
  isWhole: z.boolean().describe('False if lines are missing: the export was cut.'),
})
export type Imported = z.infer<typeof Imported>
