/**
 * When a limit ends, as a provider or its program says it: an epoch, an ISO or HTTP date, the seconds of a Retry-After header, a time
 * of day with or without a date and a time zone, or a span from now. Undefined if the text names no time, or one that is past or too far away
 * to be meant. A time of day without a zone is read in `zone`, which is that of this machine unless told.
 */
export function resetTime(text: string, now: Date, zone = localZone()): Date | undefined {
  const said = text.slice(0, mostChars).replace(/\s+/g, ' ')
  for (const read of readers) {
    const found = read(said, now, zone)
    if (found) return isPlausible(found, now) ? found : undefined
  }
  return undefined
}

type Reader = (text: string, now: Date, zone: string) => Date | undefined

/** Whoever names a time does it in a sentence. What is longer, or full of blanks, must not keep the patterns busy. */
const mostChars = 4_000
/** The longest limit known is a month. */
const furthestMs = 40 * 86_400_000
const isPlausible = (date: Date, now: Date) => {
  const ms = date.getTime() - now.getTime()
  return ms > 0 && ms <= furthestMs
}
const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

const number: Reader = (text, now) => {
  const whole = /^\s*(\d{1,13}(?:\.\d+)?)\s*$/.exec(text)?.[1]
  if (whole === undefined) return undefined
  return fromEpoch(whole) ?? new Date(now.getTime() + Number(whole) * 1000)
}

/** `usage limit reached|1763200000`, `"resets_at": 1763200000`, `reset: 1763200000000`. */
const epoch: Reader = (text) => {
  const found = /(?:\||reset\w*"?\s*[:=]?\s*(?:at\s+)?)\s*"?(\d{10}(?:\d{3})?)\b/i.exec(text)?.[1]
  return found === undefined ? undefined : fromEpoch(found)
}

function fromEpoch(digits: string): Date | undefined {
  if (/^\d{13}$/.test(digits)) return new Date(Number(digits))
  return /^\d{10}$/.test(digits) ? new Date(Number(digits) * 1000) : undefined
}

const iso: Reader = (text) => {
  const found = /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d{2}:?\d{2})/.exec(text)?.[0]
  return found === undefined ? undefined : validDate(found.replace(' ', 'T').replace(' ', ''))
}

const httpDate: Reader = (text) => {
  const found = /[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT/i.exec(text)?.[0]
  return found === undefined ? undefined : validDate(found)
}

function validDate(text: string): Date | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** `retry-after: 30`, `try again in 2h 5m`, `available after 3 days 4 hours`. */
const span: Reader = (text, now) => {
  const header = /retry[- ]after"?\s*[:=]?\s*"?(\d+(?:\.\d+)?)\b(?!\s*[a-z:])/i.exec(text)?.[1]
  if (header !== undefined) return fromEpoch(header) ?? new Date(now.getTime() + Number(header) * 1000)
  const said = /\b(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+(?:\s*,?\s*(?:and\s+)?)?)+)/i.exec(text)?.[1]
  if (said === undefined) return undefined
  let ms = 0
  for (const [, amount, unit] of said.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const unitMs = unitLengths.find(([names]) => names.test(unit ?? ''))?.[1]
    if (unitMs === undefined) break
    ms += Number(amount) * unitMs
  }
  return ms > 0 ? new Date(now.getTime() + ms) : undefined
}

const unitLengths: readonly (readonly [RegExp, number])[] = [
  [/^(ms|milliseconds?)$/i, 1],
  [/^(s|secs?|seconds?)$/i, 1000],
  [/^(m|mins?|minutes?)$/i, 60_000],
  [/^(h|hrs?|hours?)$/i, 3_600_000],
  [/^(d|days?)$/i, 86_400_000],
  [/^(w|weeks?)$/i, 604_800_000],
]

/** A time of day that has just passed is not tomorrow's: the limit is over. */
const justPassedMs = 10 * 60_000

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const clockTime =
  /\b(?:resets?|again|until|available)\b(?:\s+(?:at|on))?\s+(?:([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?:,|\s+at)?\s*)?(?:(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b\.?|(\d{1,2}):(\d{2}))?(?:\s*\(([A-Za-z_+\-/0-9]+)\)|\s+(UTC|GMT)\b)?/i

/** `resets 3am (Europe/Berlin)`, `resets at 3:45 PM`, `resets Nov 18, 5pm`, `try again at Nov 18th, 2026 17:00`. */
const clock: Reader = (text, now, local) => {
  const found = clockTime.exec(text)
  if (!found) return undefined
  const [, month, day, year, hour12, minute12, half, hour24, minute24, named, universal] = found
  const zone = usableZone(named ?? universal) ?? local
  const hour = hour12 === undefined ? Number(hour24 ?? 0) : (Number(hour12) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)
  const minute = Number(minute12 ?? minute24 ?? 0)
  if (hour > 23 || minute > 59 || Number(hour12 ?? 12) > 12) return undefined
  const today = wallClock(now, zone)
  if (month !== undefined) {
    const index = months.indexOf(month.toLowerCase())
    if (index < 0) return undefined
    const at = (inYear: number) => instant({ year: inYear, month: index, day: Number(day), hour, minute }, zone)
    if (year !== undefined) return at(Number(year))
    const soon = at(today.year)
    return soon > now ? soon : at(today.year + 1)
  }
  if (hour12 === undefined && hour24 === undefined) return undefined
  const soon = instant({ ...today, hour, minute }, zone)
  return soon.getTime() > now.getTime() - justPassedMs ? soon : instant({ ...today, day: today.day + 1, hour, minute }, zone)
}

const readers: readonly Reader[] = [number, epoch, iso, httpDate, clock, span]

function usableZone(name: string | undefined): string | undefined {
  try {
    return name && Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    return undefined
  }
}

interface Wall {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

function wallClock(date: Date, timeZone: string): Wall & { readonly second: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return { year, month: month - 1, day, hour, minute, second }
}

/** When a clock on the wall of that zone shows this. Corrected twice, because the first guess may lie on the other side of a change of the clocks. */
function instant({ year, month, day, hour, minute }: Wall, zone: string): Date {
  const shown = Date.UTC(year, month, day, hour, minute)
  let at = shown
  for (let round = 0; round < 2; round++) at = shown - offsetMs(new Date(at), zone)
  return new Date(at)
}

function offsetMs(date: Date, zone: string): number {
  const { year, month, day, hour, minute, second } = wallClock(date, zone)
  return Date.UTC(year, month, day, hour, minute, second) - Math.floor(date.getTime() / 1000) * 1000
}
