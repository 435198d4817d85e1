import { z } from 'zod'
import { Name } from '../id.ts'

/** A folder of the machine that a task asks for: one that the settings offer under `mounts`, or something below it. */
export const TaskMount = z.strictObject({
  base: Name.describe('One of the folders that `mounts` of the settings names.'),
  subpath: z.string().min(1).max(4096).optional().describe('A folder or file below it; the whole base if left out.'),
  alias: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'must be a plain name')
    .optional()
    .describe('Also seen at /mnt/<alias>.'),
  mode: z.enum(['ro', 'rw']).optional().describe('ro if left out; rw only where the base allows it.'),
})
export type TaskMount = z.infer<typeof TaskMount>

export const aliasFolder = '/mnt'
