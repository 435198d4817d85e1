import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { DurationLimit, formatDuration } from './duration.ts'

const count = 'must be a whole number from 1 to 10000'

export const BackupEntry = z.strictObject({
  every: DurationLimit.optional().describe('Take a backup this often while a daemon runs; 0, or left out, for none.'),
  keep: z
    .int({ error: count })
    .min(1, { error: count })
    .max(10_000, { error: count })
    .optional()
    .describe('How many of them to keep.'),
  folder: z
    .string()
    .refine(isAbsolute, { error: 'must be an absolute path' })
    .optional()
    .describe('Where; the folder "backups" of Pawl’s home if left out. Better on another disk.'),
  workspaces: z.boolean().optional().describe('Also the folders of Pawl’s own in which tasks work.'),
  logs: z.boolean().optional().describe('Also what the programs of agents printed.'),
})
type BackupEntry = z.output<typeof BackupEntry>

export interface BackupSettings {
  readonly everyMs?: number | undefined
  readonly keep: number
  readonly folder: string
  readonly withWorkspaces: boolean
  readonly withLogs: boolean
}

export const backupOf = (entry: BackupEntry | null | undefined, home: string): BackupSettings => ({
  everyMs: entry?.every ?? undefined,
  keep: entry?.keep ?? 10,
  folder: entry?.folder ?? join(home, 'backups'),
  withWorkspaces: entry?.workspaces ?? false,
  withLogs: entry?.logs ?? false,
})

export const shownBackup = ({ everyMs, keep, folder, withWorkspaces, withLogs }: BackupSettings) => ({
  every: everyMs === undefined ? '0' : formatDuration(everyMs),
  keep,
  folder,
  workspaces: withWorkspaces,
  logs: withLogs,
})
