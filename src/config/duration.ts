import { z } from 'zod'

/** Longer than this a timer of Node fires at once (2^31 ms), so a longer wait must be an explicit "none". */
export const longestMs = 24 * 86_400_000

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const pattern = /^\d+(\.\d+)?\s*(ms|s|m|h|d)?$/

/** Milliseconds of "30m", "10s", "2h", "1d", "500ms", or a bare number of seconds; undefined if it is none of these. */
export function parseDuration(written: string | number): number | undefined {
  const text = String(written).trim()
  if (!pattern.test(text)) return undefined
  const unit = (/[a-z]+$/.exec(text)?.[0] ?? 's') as keyof typeof unitMs
  const ms = Number.parseFloat(text) * unitMs[unit]
  // Less than a millisecond must not become 0, which means "none".
  return ms > 0 ? Math.max(1, Math.round(ms)) : 0
}

/** The shortest exact way to write it, for people. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0'
  for (const unit of ['d', 'h', 'm', 's'] as const) if (ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`
  return `${ms}ms`
}

const expected = 'must be a duration such as 500ms, 10s, 30m, 2h or 1d (a bare number means seconds)'

const Written = z.union([z.number().nonnegative({ error: expected }), z.string().regex(pattern, { error: expected })], {
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
