import { didYouMean } from '../base/nearest.ts'
import { invalid } from '../error.ts'

/** The times that a cron expression names, each field as the values it holds. */
export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>
  /** Every hour: such an expression means a rhythm, any other means times of the day. */
  readonly isHourly: boolean
  /** Days of the month and of the week are both named: either is enough, as cron has always had it. */
  readonly isEither: boolean
}

interface Field {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: monthNames },
  { name: 'day of the week', least: 0, most: 7, names: weekdayNames },
] as const satisfies readonly Field[]

const shorthands: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Reads five fields or a word such as @daily; refuses whatever it would have to guess at, and dates that never come. */
export function parseCron(written: string): Cron {
  const text = written.trim().toLowerCase()
  if (text === '@reboot') throw invalid('"@reboot" is no time; a schedule of the kind "initial" runs once when it is first seen.')
  const known = Object.keys(shorthands)
  if (text.startsWith('@') && !Object.hasOwn(shorthands, text))
    throw invalid(`"${written}" is not known${didYouMean(text, known)} There is: ${known.join(', ')}.`)
  const parts = ((Object.hasOwn(shorthands, text) && shorthands[text]) || text).split(/\s+/)
  if (parts.length === 6 || parts.length === 7)
    throw invalid(
      `"${written}" has ${parts.length} fields; Pawl takes five, without seconds and years: minute, hour, day of the month, month, day of the week.`,
    )
  if (parts.length !== 5)
    throw invalid(
      `"${written}" is no cron expression: it has five fields, minute, hour, day of the month, month, day of the week, for example "0 7 * * 1-5".`,
    )
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) => valuesOf(field, parts[index]!, written))
  const cron: Cron = {
    minutes: minutes!,
    hours: hours!,
    days: days!,
    months: months!,
    weekdays: new Set([...weekdays!].map((day) => day % 7)),
    isHourly: hours!.size === 24,
    isEither: days!.size < 31 && weekdays!.size < 7,
  }
  if (nextWall(cron, Date.UTC(2000, 0, 1)) === undefined)
    throw invalid(`"${written}" never comes: none of its months has such a day. Change the day of the month or the month.`)
  return cron
}

function valuesOf(field: Field, text: string, whole: string): Set<number> {
  const refuse = (why: string) => invalid(`The ${field.name} "${text}" of "${whole}" ${why}.`)
  const numberOf = (word: string) => {
    const named = field.names?.indexOf(word) ?? -1
    if (named >= 0) return named + field.least
    if (!/^\d{1,2}$/.test(word))
      throw refuse(`cannot be read at "${word}"; write numbers${field.names ? ' or names' : ''}, ranges, lists and steps`)
    const value = Number(word)
    if (value < field.least || value > field.most) throw refuse(`must be from ${field.least} to ${field.most}`)
    return value
  }
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const [range = '', step, ...more] = item.split('/')
    if (more.length > 0) throw refuse('has two steps')
    if (step !== undefined && !/^[1-9]\d?$/.test(step)) throw refuse('needs a step of at least 1')
    const [from, to] = rangeOf(range)
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)

    function rangeOf(words: string): readonly [number, number] {
      const isWeek = field.most === 7
      if (words === '*') return [field.least, isWeek ? 6 : field.most]
      const [first = '', last, ...rest] = words.split('-')
      if (rest.length > 0) throw refuse(`cannot be read at "${words}"`)
      const from = numberOf(first)
      if (last === undefined) return [from, step === undefined ? from : isWeek ? 6 : field.most]
      const end = numberOf(last)
      // A week may be said to end with its Sunday.
      const to = isWeek && end === 0 && from > 0 ? 7 : end
      if (to < from) throw refuse(`goes backwards at "${words}"; write it as two ranges with a comma`)
      return [from, to]
    }
  }
  return values
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** The longest anybody waits is for a leap day, over a century that has none: eight years. */
const furthestMs = 9 * 366 * dayMs

/** The first time from `from` on that matches, both as what a clock on the wall shows, counted in milliseconds as if it hung in Greenwich. */
export function nextWall(cron: Cron, from: number): number | undefined {
  const until = from + furthestMs
  let at = Math.ceil(from / minuteMs) * minuteMs
  while (at < until) {
    const date = new Date(at)
    if (!cron.months.has(date.getUTCMonth() + 1)) at = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    else if (!isDay(cron, date)) at = (Math.floor(at / dayMs) + 1) * dayMs
    else if (!cron.hours.has(date.getUTCHours())) at = (Math.floor(at / hourMs) + 1) * hourMs
    else if (!cron.minutes.has(date.getUTCMinutes())) at += minuteMs
    else return at
  }
  return undefined
}

/** Whether a minute on the wall is one that the expression names. */
export function matches(cron: Cron, wall: number): boolean {
  const date = new Date(wall)
  const isTime = cron.hours.has(date.getUTCHours()) && cron.minutes.has(date.getUTCMinutes())
  return isTime && cron.months.has(date.getUTCMonth() + 1) && isDay(cron, date)
}

function isDay({ days, weekdays, isEither }: Cron, date: Date): boolean {
  const byDate = days.has(date.getUTCDate())
  const byWeekday = weekdays.has(date.getUTCDay())
  return isEither ? byDate || byWeekday : byDate && byWeekday
}
