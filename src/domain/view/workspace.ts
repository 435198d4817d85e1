import { z } from 'zod'

/** What a run planted and what was moved out of its workspace for that. */
export const QuarantineView = z.object({
  run: z.string(),
  workspace: z.string(),
  keptAt: z.string(),
  items: z.array(
    z.object({
      path: z.string(),
      /** What it makes run, in one word. */
      runs: z.string(),
      /** What lies there now. */
      instead: z.enum(['nothing', 'earlier', 'cleaned']),
    }),
  ),
})
export type QuarantineView = z.infer<typeof QuarantineView>

/** A folder of Pawl's own in which a task worked, or left work that could not be brought back. */
export const KeptWorkspaceView = z.object({
  name: z.string(),
  task: z.string(),
  kind: z.enum(['own', 'copy', 'kept', 'clone']),
  path: z.string(),
  bytes: z.number(),
  /** Nothing runs in it and nothing waits for it. */
  removable: z.boolean(),
})
export type KeptWorkspaceView = z.infer<typeof KeptWorkspaceView>
