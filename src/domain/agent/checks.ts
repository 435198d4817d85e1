import { z } from 'zod'

/** A command that Pawl itself runs in the workspace, inside the walls, after the agent's last write. */
export const Check = z.strictObject({
  run: z.string().min(1).max(65_536).describe('A shell command; it passes if it ends with 0.'),
  name: z.string().min(1).max(200).optional(),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      'How long it may take. Left out: until it has neither printed anything nor used the CPU for ten minutes, and four hours at most.',
    ),
})
export type Check = z.infer<typeof Check>

export const Checks = z.strictObject({
  commands: z.array(Check).min(1).max(50),
  attempts: z.number().int().min(0).max(20).default(0).describe('How often the agent is told what failed and goes on.'),
  home: z
    .enum(['empty', 'session'])
    .optional()
    .describe(
      'The home directory of the commands: an empty one, or that of the session, where the agent may have left settings and caches.',
    ),
})
export type Checks = z.infer<typeof Checks>
