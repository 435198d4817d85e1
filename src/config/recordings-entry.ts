import { z } from 'zod'

const error = 'must be a whole number from 1 to 10000'

export const RecordingsEntry = z.strictObject({
  maxMb: z
    .int({ error })
    .min(1, { error })
    .max(10_000, { error })
    .optional()
    .describe('How large the traffic of one recorded run may grow, and how large its workspace may be to be kept with it.'),
})
type RecordingsEntry = z.output<typeof RecordingsEntry>

export interface RecordingSettings {
  readonly maxMb: number
}

export const recordingsOf = (entry: RecordingsEntry | null | undefined): RecordingSettings => ({ maxMb: entry?.maxMb ?? 200 })
