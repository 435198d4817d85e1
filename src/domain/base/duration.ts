// Without the schema library on purpose: the page imports this file.

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
export const durationPattern = /^\d+(\.\d+)?\s*(ms|s|m|h|d)?$/

/** Milliseconds of "30m", "10s", "2h", "1d", "500ms", or a bare number of seconds; undefined if it is none of these. */
export function parseDuration(written: string | number): number | undefined {
  const text = String(written).trim()
  if (!durationPattern.test(text)) return undefined
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
