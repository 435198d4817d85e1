import { type Cron, matches, nextWall, parseCron } from './cron.ts'
import type { When } from './schedule.ts'
import { momentOf, offsetAt, quarterMs, wallAt } from './time-zone.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

/**
 * The first moment after `after` at which a schedule is due, undefined if there is none. What depends on more than time (a time of rest) has no such moment.
 * A time of the day that clocks jump over is due once, right after the gap; one that they show twice is due the first time. An expression for every hour is a
 * rhythm: it goes by what clocks show and leaves out nothing and adds nothing when they are put forward or back.
 */
export function nextTime(when: When, { after, since }: { after: number; since: number }): number | undefined {
  switch (when.kind) {
    case 'cron':
      return nextCron(parseCron(when.expression), when.timeZone, after)
    case 'every': {
      const passed = Math.max(0, Math.floor((after - since) / when.everyMs))
      return since + (passed + 1) * when.everyMs
    }
    case 'at': {
      const at = Date.parse(when.at)
      return at > after ? at : undefined
    }
    case 'initial':
      return since > after ? since : undefined
    case 'idle':
      return undefined
  }
}

export function nextCron(cron: Cron, zone: string, after: number): number | undefined {
  return cron.isHourly ? nextOfRhythm(cron, zone, after) : nextOfDay(cron, zone, after)
}

/** Later times on the wall never come at earlier moments, so the first that is late enough is the one. */
function nextOfDay(cron: Cron, zone: string, after: number): number | undefined {
  let wall = Math.floor(wallAt(zone, after) / minuteMs) * minuteMs
  for (;;) {
    const found = nextWall(cron, wall)
    if (found === undefined) return undefined
    const moment = momentOf(zone, found)
    if (moment > after) return moment
    wall = found + minuteMs
  }
}

/** Looks at what clocks show, quarter by quarter: within one the offset does not change. Days that cannot match are left out. */
function nextOfRhythm(cron: Cron, zone: string, after: number): number | undefined {
  let from = (Math.floor(after / minuteMs) + 1) * minuteMs
  for (;;) {
    const until = from + 2 * dayMs
    for (let at = from; at < until; ) {
      const offset = offsetAt(zone, at)
      const end = (Math.floor(at / quarterMs) + 1) * quarterMs
      for (; at < end; at += minuteMs) if (matches(cron, at + offset)) return at
    }
    const wall = nextWall(cron, wallAt(zone, until) - dayMs)
    if (wall === undefined) return undefined
    // No zone is a whole day away from Greenwich.
    from = Math.max(until, wall - dayMs)
  }
}

export interface Dues {
  /** The last ones, oldest first. */
  readonly moments: readonly number[]
  /** How many there were before those; undefined if too many to count. */
  readonly earlier: number | undefined
}

const firstLookMs = 3_600_000

/**
 * The last moments from `from` to `until` at which it was due, at most so many. Looks back from the end, further each time: whoever has been away for years must not
 * count every minute of them.
 */
export function dueBetween(
  when: When,
  since: number,
  { from, until, most }: { from: number; until: number; most: number },
): Dues {
  for (let lookMs = firstLookMs; ; lookMs *= 2) {
    const isAll = until - lookMs <= from
    const moments: number[] = []
    let at = isAll ? from - 1 : until - lookMs
    for (;;) {
      const next = nextTime(when, { after: at, since })
      if (next === undefined || next > until) break
      moments.push(next)
      at = next
    }
    if (isAll || moments.length > most)
      return {
        moments: moments.slice(-most),
        earlier: isAll ? Math.max(0, moments.length - most) : undefined,
      }
  }
}

/** How much later than due a tick is fired: always the same for the same tick, spread evenly over all. */
export function jitterOf(schedule: string, due: number, jitterMs: number): number {
  return Math.floor((mixed(`${schedule} ${due}`) / 2 ** 32) * jitterMs)
}

/** A number of 32 bits that looks like chance and is always the same for the same text. */
function mixed(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
