import { z } from 'zod'
import { defaultFileLimits, type FileLimits, mostUploadMb } from '../domain/files/limits.ts'

const whole = (most: number) => {
  const error = `must be a whole number from 1 to ${most}`
  return z.int({ error }).min(1, { error }).max(most, { error }).optional()
}

export const FilesEntry = z.strictObject({
  uploadMb: whole(mostUploadMb).describe('How large one file may be that is handed in with a task.'),
  attachments: whole(100).describe('How many files a task may be given.'),
  attachmentsMb: whole(1_000).describe('How large they may be together.'),
  artifacts: whole(1_000).describe('How many files a task may leave for people.'),
  artifactMb: whole(1_000).describe('How large one of them may be.'),
  artifactsMb: whole(10_000).describe('How large those of one run may be together.'),
  tellArtifacts: z.boolean().optional().describe('Tell agents in their prompt where to leave files for people.'),
})

/** What nobody says stays as it is by default. */
export const filesOf = (entry: z.output<typeof FilesEntry> | null | undefined): FileLimits => ({
  ...defaultFileLimits,
  ...Object.fromEntries(Object.entries(entry ?? {}).filter(([, value]) => value !== undefined)),
})
