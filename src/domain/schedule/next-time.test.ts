import { describe, expect, it } from 'vitest'
import { matches, parseCron } from './cron.ts'
import { dueBetween, jitterOf, nextCron, nextTime } from './next-time.ts'
import { formatIn, momentOf, wallAt } from './time-zone.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The next times as clocks of the zone show them. */
function nextIn(zone: string, expression: string, from: string, count: number): string[] {
  const cron = parseCron(expression)
  const shown: string[] = []
  for (let at: number | undefined = Date.parse(from); shown.length < count; ) {
    at = nextCron(cron, zone, at)
    if (at === undefined) break
    shown.push(formatIn(zone, at).split(' ').slice(0, 3).join(' '))
  }
  return shown
}
/** The steps between them, in minutes. */
function stepsIn(zone: string, expression: string, from: string, count: number): number[] {
  const cron = parseCron(expression)
  const moments = [nextCron(cron, zone, Date.parse(from))!]
  while (moments.length < count) moments.push(nextCron(cron, zone, moments.at(-1)!)!)
  return moments.slice(1).map((at, index) => (at - moments[index]!) / minute)
}

describe('cron expressions', () => {
  it.each([
    ['0 7 * * 1-5', '2026-01-02T08:00Z', ['2026-01-05 07:00', '2026-01-06 07:00']],
    ['0 7 * * mon-fri', '2026-01-02T08:00Z', ['2026-01-05 07:00', '2026-01-06 07:00']],
    ['0 0 1 jan,jul *', '2026-01-02T00:00Z', ['2026-07-01 00:00', '2027-01-01 00:00']],
    ['5/20 * * * *', '2026-01-01T00:00Z', ['2026-01-01 00:05', '2026-01-01 00:25', '2026-01-01 00:45', '2026-01-01 01:05']],
    ['0 9-17/4 * * *', '2026-01-01T00:00Z', ['2026-01-01 09:00', '2026-01-01 13:00', '2026-01-01 17:00', '2026-01-02 09:00']],
    ['0 12 * * 7', '2026-01-01T00:00Z', ['2026-01-04 12:00', '2026-01-11 12:00']],
    ['0 12 * * fri-sun', '2026-01-01T00:00Z', ['2026-01-02 12:00', '2026-01-03 12:00', '2026-01-04 12:00', '2026-01-09 12:00']],
    ['0 0 13 * fri', '2026-01-01T00:00Z', ['2026-01-02 00:00', '2026-01-09 00:00', '2026-01-13 00:00', '2026-01-16 00:00']],
    ['@daily', '2026-01-01T00:00Z', ['2026-01-02 00:00', '2026-01-03 00:00']],
    ['@yearly', '2026-01-01T00:00Z', ['2027-01-01 00:00', '2028-01-01 00:00']],
    ['0 0 29 2 *', '2026-01-01T00:00Z', ['2028-02-29 00:00', '2032-02-29 00:00']],
    ['0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29 00:00']],
    ['*/30 * 29 2 *', '2026-01-01T00:00Z', ['2028-02-29 00:00', '2028-02-29 00:30']],
  ])('%s names the times it should', (expression, from, expected) => {
    expect(nextIn('UTC', expression, from, expected.length)).toEqual(expected.map((time) => `${time} +00:00`))
  })

  it.each([
    ['0 0 30 2 *', /never comes/],
    ['0 0 31 4,6,9,11 *', /never comes/],
    ['0 0 7 * * 1-5', /has 6 fields.*without seconds/],
    ['* * *', /five fields/],
    ['60 * * * *', /minute "60".*from 0 to 59/],
    ['0 24 * * *', /hour "24".*from 0 to 23/],
    ['0 0 0 * *', /day of the month "0".*from 1 to 31/],
    ['0 0 * 13 *', /month "13".*from 1 to 12/],
    ['0 0 * foo *', /month "foo".*names/],
    ['0 0 L * *', /day of the month "l"/],
    ['0 0 * * 1#2', /day of the week "1#2"/],
    ['0 22-2 * * *', /goes backwards/],
    ['*/0 * * * *', /step of at least 1/],
    ['1/2/3 * * * *', /two steps/],
    ['@dayly', /did you mean "@daily"/],
    ['@reboot', /"initial"/],
  ])('%s is refused with a sentence', (expression, sentence) => {
    expect(() => parseCron(expression)).toThrow(sentence)
  })
})

describe('clocks that are put forward and back', () => {
  it('a time that does not exist is due once, at the first moment after the gap', () => {
    expect(nextIn('Europe/Berlin', '30 2 * * *', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28 02:30 +01:00',
      '2026-03-29 03:00 +02:00',
      '2026-03-30 02:30 +02:00',
    ])
    expect(nextIn('America/New_York', '15,45 2 * * *', '2026-03-07T12:00Z', 3)).toEqual([
      '2026-03-08 03:00 -04:00',
      '2026-03-09 02:15 -04:00',
      '2026-03-09 02:45 -04:00',
    ])
    expect(nextIn('Australia/Lord_Howe', '15 2 * * *', '2026-10-02T00:00Z', 3)).toEqual([
      '2026-10-03 02:15 +10:30',
      '2026-10-04 02:30 +11:00',
      '2026-10-05 02:15 +11:00',
    ])
    expect(nextIn('Africa/Cairo', '0 0 * * *', '2026-04-23T00:00Z', 2)).toEqual([
      '2026-04-24 01:00 +03:00',
      '2026-04-25 00:00 +03:00',
    ])
  })

  it('a day that a country left out is due as it ends', () => {
    expect(nextIn('Pacific/Apia', '0 7 * * *', '2011-12-29T12:00Z', 3)).toEqual([
      '2011-12-29 07:00 -10:00',
      '2011-12-31 00:00 +14:00',
      '2011-12-31 07:00 +14:00',
    ])
  })

  it('a time that comes twice is due once, the first time', () => {
    expect(nextIn('Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25 02:30 +02:00',
      '2026-10-26 02:30 +01:00',
    ])
    expect(nextIn('America/New_York', '30 1 * * *', '2026-10-31T12:00Z', 2)).toEqual([
      '2026-11-01 01:30 -04:00',
      '2026-11-02 01:30 -05:00',
    ])
    expect(nextIn('Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', 2)).toEqual([
      '2026-04-05 01:45 +11:00',
      '2026-04-06 01:45 +10:30',
    ])
    // Also for whoever asks while it is shown for the second time.
    expect(nextIn('Europe/Berlin', '30 2 * * *', '2026-10-25T01:10Z', 1)).toEqual(['2026-10-26 02:30 +01:00'])
  })

  it.each([
    ['Europe/Berlin', '2026-03-28T22:00Z'],
    ['Europe/Berlin', '2026-10-24T22:00Z'],
    ['America/New_York', '2026-03-08T04:00Z'],
    ['America/New_York', '2026-11-01T03:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T12:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T12:00Z'],
    ['Pacific/Apia', '2011-12-30T06:00Z'],
  ])('every fifteen minutes stays every fifteen minutes in %s from %s on', (zone, from) => {
    expect(new Set(stepsIn(zone, '*/15 * * * *', from, 60))).toEqual(new Set([15]))
  })

  it('every hour at half past stays every hour', () => {
    for (const from of ['2026-03-28T22:00Z', '2026-10-24T22:00Z'])
      expect(new Set(stepsIn('Europe/Berlin', '30 * * * *', from, 12))).toEqual(new Set([60]))
  })
})

describe('other times', () => {
  const since = Date.parse('2026-01-01T00:00Z')
  it('an interval is counted from its beginning, whatever clocks do', () => {
    const when = { kind: 'every', everyMs: 90 * minute } as const
    expect(nextTime(when, { after: since, since })).toBe(since + 90 * minute)
    expect(nextTime(when, { after: since + 90 * minute, since })).toBe(since + 180 * minute)
    expect(nextTime(when, { after: since + 1_000 * day + 1, since })! % (90 * minute)).toBe(since % (90 * minute))
    expect(nextTime(when, { after: since - 10 * day, since })).toBe(since + 90 * minute)
  })
  it('a moment comes once', () => {
    const when = { kind: 'at', at: '2026-05-01T09:00:00+02:00' } as const
    expect(nextTime(when, { after: since, since })).toBe(Date.parse('2026-05-01T07:00Z'))
    expect(nextTime(when, { after: Date.parse('2026-05-01T07:00Z'), since })).toBeUndefined()
  })
  it('what was missed is counted, and of years of minutes only the end is looked at', () => {
    const daily = { kind: 'cron', expression: '0 7 * * *', timeZone: 'Europe/Berlin' } as const
    const from = Date.parse('2026-03-27T06:00Z')
    const { moments, earlier } = dueBetween(daily, 0, { from, until: from + 5 * day, most: 100 })
    expect(moments.map((at) => new Date(at).toISOString().slice(0, 13))).toEqual([
      '2026-03-27T06',
      '2026-03-28T06',
      '2026-03-29T05',
      '2026-03-30T05',
      '2026-03-31T05',
      '2026-04-01T05',
    ])
    expect(earlier).toBe(0)
    expect(dueBetween(daily, 0, { from, until: from + 5 * day, most: 4 })).toEqual({ moments: moments.slice(-4), earlier: 2 })
    const begun = performance.now()
    const minutely = { kind: 'cron', expression: '* * * * *', timeZone: 'UTC' } as const
    const years = dueBetween(minutely, 0, { from, until: from + 3_650 * day, most: 100 })
    expect(years.moments).toHaveLength(100)
    expect(years.moments.at(-1)).toBe(from + 3_650 * day)
    expect(years.earlier).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(15_000)
  })
  it('jitter is the same for the same tick, differs between ticks, and stays below its bound', () => {
    const spread = Array.from({ length: 200 }, (_, index) => jitterOf('c_1', index * hour, 10 * minute))
    expect(spread).toEqual(Array.from({ length: 200 }, (_, index) => jitterOf('c_1', index * hour, 10 * minute)))
    expect(new Set(spread).size).toBeGreaterThan(190)
    expect(Math.min(...spread)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...spread)).toBeLessThan(10 * minute)
    expect(jitterOf('c_1', hour, 0)).toBe(0)
  })
})

describe('any expression, any zone, any moment', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'Asia/Kathmandu',
    'Africa/Casablanca',
  ]
  // A small generator with a seed: the same cases each time, and a name for the one that fails.
  const random = (seed: number) => () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  const cases = Array.from({ length: 150 }, (_, index) => {
    const chance = random(index + 1)
    const pick = <T>(from: readonly T[]) => from[Math.floor(chance() * from.length)]!
    const number = (most: number) => String(Math.floor(chance() * most))
    const expression = [
      pick(['*', '*/15', '*/7', number(60), `${number(30)},${number(60)}`, '10-20/5']),
      pick(['*', '*', '*/3', number(24), '1-3', '2']),
      pick(['*', '*', '*', '1', '28-31', '*/10']),
      pick(['*', '*', '3', '10', '3,4,10,11']),
      pick(['*', '*', 'sun', '1-5', '6,0']),
    ].join(' ')
    // Near a change of clocks more often than not.
    const near = pick([
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-03-08T07:00Z',
      '2026-11-01T06:00Z',
      '2026-04-04T15:00Z',
      '2026-10-03T15:30Z',
      '2026-07-01T00:00Z',
    ])
    return { expression, zone: pick(zones), after: Date.parse(near) + Math.floor((chance() - 0.6) * 6 * hour) }
  })

  it.each(cases)(
    '$expression in $zone: the next is later, is named by the expression, and nothing is left out before it',
    ({ expression, zone, after }) => {
      const cron = parseCron(expression)
      const next = nextCron(cron, zone, after)!
      expect(next).toBeGreaterThan(after)
      expect(next % minute).toBe(0)
      const wall = wallAt(zone, next)
      const isAfterGap = wallAt(zone, next - minute) + minute < wall
      if (!isAfterGap || cron.isHourly) expect(matches(cron, wall)).toBe(true)
      // Every minute between, one by one, as far as is sensible.
      for (let at = (Math.floor(after / minute) + 1) * minute; at < Math.min(next, after + 3 * day); at += minute) {
        const shown = wallAt(zone, at)
        const isSecond = momentOf(zone, shown) !== at
        if (matches(cron, shown)) expect(isSecond && !cron.isHourly).toBe(true)
      }
    },
  )
})

it('a word that every object has is no cron expression either', () => {
  expect(() => parseCron('constructor')).toThrow('is no cron expression')
})
