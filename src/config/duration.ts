import { z } from 'zod'
import { durationPattern, parseDuration } from '../domain/base/duration.ts'

export { formatDuration, parseDuration } from '../domain/base/duration.ts'

/** Longer than this a timer of Node fires at once (2^31 ms), so a longer wait must be an explicit "none". */
export const longestMs = 24 * 86_400_000

const expected = 'must be a duration such as 500ms, 10s, 30m, 2h or 1d (a bare number means seconds)'

const Written = z.union([z.number().nonnegative({ error: expected }), z.string().regex(durationPattern, { error: expected })], {
  error: expected,
})

const milliseconds = (written: string | number, context: z.RefinementCtx): number => {
  const ms = parseDuration(written)
  if (ms === undefined) context.addIssue({ code: 'custom', message: expected })
  else if (ms > longestMs)
    context.addIssue({ code: 'custom', message: 'must be at most 24d; 0 means no limit where one may be left out' })
  return ms ?? 0
}

/** A wait, where 0 is no wait at all. */
export const Duration = Written.transform(milliseconds)

/** A limit, where 0 is the explicit choice to have none; parsed to null. */
export const DurationLimit = Written.transform((written, context) => {
  const ms = milliseconds(written, context)
  return ms === 0 ? null : ms
})
