import { z } from 'zod'

/** Of a file in the folder of backups, as we write them; never a path. */
export const BackupName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.pawl$/, 'expected the name of a backup like 2026-01-31_12-00-00.000.pawl')

/** A backup, as every surface shows it. */
export const BackupView = z.object({
  name: z.string().describe('The name of its file in the folder of backups.'),
  id: z.string(),
  takenAt: z.iso.datetime(),
  pawl: z.string().describe('The version of Pawl that took it.'),
  schema: z.int().describe('The newest migration of its tables; a Pawl that knows no more than an older one refuses it.'),
  tables: z.int(),
  rows: z.int(),
  files: z.int().describe('Files of the home beside the database.'),
  contentBytes: z.int().describe('Before compression.'),
  bytes: z.int().describe('Of the file.'),
  withKeys: z.boolean().describe('Whether the key that opens the secrets is in it.'),
  withWorkspaces: z.boolean(),
  withLogs: z.boolean(),
})
export type BackupView = z.infer<typeof BackupView>

/** One that is being taken. */
export const BackupUnderWay = z.object({
  startedAt: z.iso.datetime(),
  part: z.string().nullable().describe('The table or file that was written last.'),
  contentBytes: z.int().describe('What is written so far, before compression.'),
})
export type BackupUnderWay = z.infer<typeof BackupUnderWay>

export const NewBackup = z.strictObject({
  withWorkspaces: z.boolean().optional().describe('Also the folders of Pawl’s own in which tasks work.'),
  withLogs: z.boolean().optional().describe('Also what the programs of agents printed.'),
})
export type NewBackup = z.infer<typeof NewBackup>
