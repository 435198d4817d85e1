/** When a limit ends, as providers say it in headers and words. Undefined if nothing says it, or nothing that can be meant. */
export function headerTime(value: string | undefined, now: Date): Date | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const text = value.trim()
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text)
    return plausible(number >= firstEpochSeconds ? epoch(number) : new Date(now.getTime() + number * 1000), now)
  }
  const span = spanMs(text)
  if (span !== undefined) return plausible(new Date(now.getTime() + span), now)
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : plausible(date, now)
}

/** `Retry-After`, and the finer one that some send beside it. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, now: Date): Date | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (ms >= 0) return plausible(new Date(now.getTime() + ms), now)
  return headerTime(headers['retry-after'], now)
}

/** `try again in 1m3.2s`, `retry after 20 seconds`. */
export function saidTime(text: string, now: Date): Date | undefined {
  const said =
    /\b(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|[smhd]|secs?|seconds?|mins?|minutes?|hours?|days?)\b\s*)+)/i.exec(
      text.slice(0, 2_000).replace(/(\d[a-z]+)(?=\d)/gi, '$1 '),
    )?.[1]
  const ms = said === undefined ? undefined : spanMs(said)
  return ms === undefined ? undefined : plausible(new Date(now.getTime() + ms), now)
}

export const epochTime = (seconds: unknown, now: Date): Date | undefined =>
  typeof seconds === 'number' && seconds >= firstEpochSeconds ? plausible(epoch(seconds), now) : undefined

export const secondsFromNow = (seconds: unknown, now: Date): Date | undefined =>
  typeof seconds === 'number' && seconds >= 0 ? plausible(new Date(now.getTime() + seconds * 1000), now) : undefined

/** Until then, in whole seconds, for a header. */
export const secondsUntil = (at: Date, now: Date): number => Math.max(0, Math.ceil((at.getTime() - now.getTime()) / 1000))

/** The later of two, of which either may be unknown. */
export const later = (a: Date | undefined, b: Date | undefined): Date | undefined => (a && b ? (a > b ? a : b) : (a ?? b))

const firstEpochSeconds = 1_000_000_000
const epoch = (number: number) => new Date(number >= firstEpochSeconds * 1000 ? number : number * 1000)
/** The longest limit known is a month. */
const furthestMs = 40 * 86_400_000
const plausible = (date: Date, now: Date) => {
  const ms = date.getTime() - now.getTime()
  return ms >= 0 && ms <= furthestMs ? date : undefined
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `1s`, `6m0s`, `17ms`, `2 days 3 hours`. */
function spanMs(text: string): number | undefined {
  let ms = 0
  let rest = text.trim()
  while (rest !== '') {
    const found = /^(\d+(?:\.\d+)?)\s*(milliseconds?|ms|[smhd][a-z]*)[\s,]*/i.exec(rest)
    const unit = found?.[2]?.toLowerCase()
    if (!found || unit === undefined) return undefined
    ms += Number(found[1]) * (/^(ms|milli)/.test(unit) ? 1 : unitMs[unit.charAt(0)]!)
    rest = rest.slice(found[0].length)
  }
  return text.trim() === '' ? undefined : ms
}
