import { z } from 'zod'

/** When a setting that was changed comes into force. */
export const settingEffects = ['now', 'new tasks', 'restart'] as const
export type SettingEffect = (typeof settingEffects)[number]

export const SettingRow = z.object({
  path: z.string(),
  value: z.unknown().describe('Secrets are masked.'),
  source: z.string().describe('`default`, `file:line`, `env NAME` or `flag --name`.'),
  effect: z.enum(settingEffects).describe('When a change of it comes into force.'),
  isWritten: z.boolean().describe('A file can say it under this path.'),
  about: z.string().nullable().describe('What it means.'),
})
export type SettingRow = z.infer<typeof SettingRow>

export const SettingsView = z.object({
  file: z.string().describe('The settings of the home, which can be changed here.'),
  hash: z.string().nullable().describe('Of that file as it was read; null if there is none.'),
  projectFile: z
    .string()
    .nullable()
    .describe('The settings of the folder that the daemon was started in; they win over those of the home.'),
  settings: z.array(SettingRow).describe('What is in force.'),
  waiting: z
    .array(z.object({ path: z.string(), value: z.unknown() }))
    .describe('What the files say that the daemon does not do yet: it needs to be started again for it.'),
  problem: z.string().nullable().describe('Why the files as they are now could not be used.'),
  canUndo: z.boolean(),
  untrusted: z.array(z.string()).describe('Settings of the project that do not count, because nobody has trusted its file.'),
  notes: z.array(z.string()),
})
export type SettingsView = z.infer<typeof SettingsView>

export const SettingsChange = z.strictObject({
  set: z.record(z.string().min(1).max(500), z.unknown()).optional().describe('Path → value, as they would stand in the file.'),
  unset: z.array(z.string().min(1).max(500)).max(100).optional().describe('Paths that the file is to say nothing of any more.'),
  hash: z.string().max(100).nullable().optional().describe('Refuse if the file is another by now.'),
})
export type SettingsChange = z.infer<typeof SettingsChange>

export const SettingsChanged = z.object({
  changed: z.array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown(), effect: z.enum(settingEffects) })),
  overruled: z
    .array(z.object({ path: z.string(), by: z.string() }))
    .describe('What stands in the file now and does not count, because another place wins.'),
  file: z.string(),
  hash: z.string().nullable(),
  restart: z.boolean().describe('Something of it needs the daemon to be started again.'),
})
export type SettingsChanged = z.infer<typeof SettingsChanged>
