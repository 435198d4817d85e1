/** When the day and the month of a moment began in a time zone, whatever its clocks did since. */
export function periodStarts(nowMs: number, timeZone: string): { day: Date; month: Date } {
  const parts = partsOf(nowMs, timeZone)
  return {
    day: midnight(parts.year, parts.month, parts.day, timeZone),
    month: midnight(parts.year, parts.month, 1, timeZone),
  }
}

/** The first moment of a date. Where clocks skip midnight itself, that is what they skip to. */
function midnight(year: number, month: number, day: number, timeZone: string): Date {
  const asUtc = Date.UTC(year, month - 1, day)
  // The offset at midnight is that of one of the days around it; the earliest moment that bears the date is its beginning.
  const offsets = [asUtc - 86_400_000, asUtc, asUtc + 86_400_000].map((at) => offsetMs(at, timeZone))
  const moments = offsets.map((offset) => asUtc - offset).sort((one, other) => one - other)
  const bears = (at: number) => {
    const found = partsOf(at, timeZone)
    return found.year === year && found.month === month && found.day === day
  }
  return new Date(moments.find(bears) ?? asUtc)
}

function offsetMs(atMs: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(atMs, timeZone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

type Parts = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>

const formats = new Map<string, Intl.DateTimeFormat>()

function partsOf(atMs: number, timeZone: string): Parts {
  let format = formats.get(timeZone)
  if (!format) {
    const numeric = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...numeric })
    formats.set(timeZone, format)
  }
  return Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)])) as Parts
}
