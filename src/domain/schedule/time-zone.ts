import { nearest } from '../base/nearest.ts'
import { invalid } from '../error.ts'

/**
 * What clocks on the wall show in a time zone. A wall time is counted in milliseconds as if it were shown in Greenwich, so that it can be reckoned with;
 * the platform's own zone data says how far that is from the truth at each moment.
 */

const minuteMs = 60_000
const dayMs = 86_400_000
/** Every zone changes its offset at whole quarters of an hour. */
export const quarterMs = 15 * minuteMs

const formats = new Map<string, Intl.DateTimeFormat>()
const known = new Map<string, number>()
const mostKnown = 10_000

/** The name as it is, if the platform knows it. */
export function assertTimeZone(zone: string): string {
  formatOf(zone)
  return zone
}

export const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** How many milliseconds the clocks of the zone are ahead of Greenwich at that moment. */
export function offsetAt(zone: string, at: number): number {
  const key = `${zone} ${Math.floor(at / quarterMs)}`
  const before = known.get(key)
  if (before !== undefined) return before
  const written = formatOf(zone).format(at)
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(written) ?? []
  const ahead = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
  const offset = sign === '-' ? -ahead : ahead
  if (known.size >= mostKnown) known.clear()
  known.set(key, offset)
  return offset
}

export const wallAt = (zone: string, at: number) => at + offsetAt(zone, at)

/** The moment at which clocks show that time: the first of two if it comes twice, the first after the gap if it does not come at all. */
export function momentOf(zone: string, wall: number): number {
  const earlier = offsetAt(zone, wall - dayMs)
  const later = offsetAt(zone, wall + dayMs)
  const [first, second] = [wall - Math.max(earlier, later), wall - Math.min(earlier, later)] as const
  if (wallAt(zone, first) === wall) return first
  if (wallAt(zone, second) === wall) return second
  // Clocks jump over it between these two.
  let [before, after] = [first, second] as [number, number]
  while (after - before > minuteMs) {
    const middle = Math.floor((before + after) / 2 / minuteMs) * minuteMs
    if (wallAt(zone, middle) < wall) before = middle
    else after = middle
  }
  return after
}

/** As people write it, with how far the zone is from Greenwich: "2026-03-29 03:00 +02:00 Europe/Berlin". */
export function formatIn(zone: string, at: number): string {
  const offset = offsetAt(zone, at)
  const minutes = Math.abs(offset) / minuteMs
  const ahead = `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  const wall = new Date(at + offset).toISOString()
  return `${wall.slice(0, 10)} ${wall.slice(11, wall.endsWith(':00.000Z') ? 16 : 19)} ${ahead} ${zone}`
}

const two = (n: number) => String(Math.floor(n)).padStart(2, '0')

function formatOf(zone: string): Intl.DateTimeFormat {
  const made = formats.get(zone)
  if (made) return made
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    formats.set(zone, format)
    return format
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const meant = nearest(zone, Intl.supportedValuesOf('timeZone'))
    throw invalid(
      `"${zone}" is no time zone; ${meant === undefined ? 'name one as in "Europe/Berlin", "America/New_York" or "UTC".' : `did you mean "${meant}"?`}`,
    )
  }
}
