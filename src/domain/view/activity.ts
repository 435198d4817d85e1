import { z } from 'zod'

/** What the process that runs a task knows of what it is doing. */
export const Activity = z.object({
  kind: z
    .enum(['tool', 'check', 'model', 'busy', 'silent', 'working'])
    .describe(
      '`tool`, `check`: one is running; `model`: it waits for its model; `busy`: silent, but its programs use the CPU or do I/O; `silent`: nothing happens; `working`: it said or did something within the last ten seconds.',
    ),
  name: z.string().nullable().describe('Of the tool or the check.'),
  since: z.iso.datetime().describe('Since when; of `busy` and `silent`, when it last said or did something.'),
})
export type Activity = z.infer<typeof Activity>
