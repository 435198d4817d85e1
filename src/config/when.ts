import { nearest } from '../domain/base/nearest.ts'
import { invalid } from '../domain/error.ts'
import { parseCron } from '../domain/schedule/cron.ts'
import { When } from '../domain/schedule/schedule.ts'
import { assertTimeZone, momentOf, ownTimeZone } from '../domain/schedule/time-zone.ts'
import { parseDuration } from './duration.ts'

/**
 * When a schedule is due, as people write it: "0 7 * * 1-5" or "@daily", "every 90m", "at 2026-05-01 09:00", "idle 30m", "initial". The zone is that of this machine
 * unless one is named.
 */
export function parseWhen(written: string, { timeZone = ownTimeZone() }: { timeZone?: string | undefined } = {}): When {
  const text = written.trim()
  const [word = '', ...others] = text.split(/\s+/)
  const rest = others.join(' ')
  assertTimeZone(timeZone)
  switch (word.toLowerCase()) {
    case 'every':
      return checked({ kind: 'every', everyMs: lengthOf(rest, written) })
    case 'idle':
      return checked({ kind: 'idle', idleMs: lengthOf(rest, written), of: 'agent' })
    case 'at':
      return { kind: 'at', at: new Date(momentIn(timeZone, rest, written)).toISOString() }
    case 'initial':
      if (rest !== '') throw invalid(`"${written}" says more than "initial", which is a word of its own.`)
      return { kind: 'initial' }
    default:
      assertWord(word, written)
      parseCron(text)
      return { kind: 'cron', expression: text, timeZone }
  }
}

/** Something that begins with a word is hardly meant as a cron expression. */
function assertWord(word: string, written: string): void {
  const meant = /^[a-z]/i.test(word) ? nearest(word, ['every', 'at', 'idle', 'initial']) : undefined
  if (meant !== undefined) throw invalid(`"${written}" is not known; did you mean "${meant}"?`)
}

function checked(when: When): When {
  const read = When.safeParse(when)
  if (read.success) return read.data
  throw invalid('An interval or a time of rest is at least 1s and at most 366d long.')
}

function lengthOf(text: string, whole: string): number {
  const ms = text === '' ? undefined : parseDuration(text)
  if (ms === undefined) throw invalid(`"${whole}" needs a duration such as 90s, 30m, 2h or 1d.`)
  return ms
}

const local = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/

/** A moment with its own offset, or what clocks of the zone show. */
function momentIn(zone: string, text: string, whole: string): number {
  const read = local.exec(text)
  if (read) {
    const [year, month, day, hour = 0, minute = 0, second = 0] = read
      .slice(1)
      .map((part) => (part === undefined ? undefined : Number(part)))
    const wall = Date.UTC(year!, month! - 1, day!, hour, minute, second)
    // A date that is none, such as the 30th of February, would become another one.
    if (new Date(wall).toISOString().startsWith(`${read[1]}-${read[2]}-${read[3]}T`)) return momentOf(zone, wall)
  } else if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i.test(text) && !Number.isNaN(Date.parse(text)))
    return Date.parse(text)
  throw invalid(`"${whole}" names no moment; write it as in "at 2026-05-01 09:00" or "at 2026-05-01T09:00:00+02:00".`)
}
