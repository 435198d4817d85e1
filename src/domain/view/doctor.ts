import { z } from 'zod'

/** One thing that was looked at: how it is, and what to do about it. */
export const Finding = z.object({
  name: z.string(),
  level: z
    .enum(['ok', 'note', 'warn', 'fail'])
    .describe('`note` is good to know and nothing is wrong: an agent that nobody installed or asked for.'),
  detail: z.string(),
  fix: z.string().optional(),
})
export type Finding = z.infer<typeof Finding>
/** The same, of a thing that has its name already. */
export type Found = Omit<Finding, 'name'>

export const DoctorReport = z.object({ home: z.string(), sizeBytes: z.number(), rows: z.array(Finding) })
export type DoctorReport = z.infer<typeof DoctorReport>

/** A look that may still be going on: what was found so far. */
export const DoctorView = z.object({
  startedAt: z.iso.datetime(),
  isRunning: z.boolean(),
  home: z.string(),
  sizeBytes: z.number().nullable(),
  rows: z.array(Finding).describe('What was found so far, in the order in which it was.'),
})
export type DoctorView = z.infer<typeof DoctorView>
