import { parseDuration } from '../config/duration.ts'
import { parseWhen } from '../config/when.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import { oneOf } from '../domain/base/one-of.ts'
import { messageOf, PawlError } from '../domain/error.ts'
import { catchUps, type NewSchedule, overlaps, type When } from '../domain/schedule/schedule.ts'
import { camel, WrongValue } from './fields.ts'

/** Everything but when and what, as far as it is given. */
export type Policies = { -readonly [K in 'name' | 'session' | 'overlap' | 'catchUp' | 'jitterMs']?: NonNullable<NewSchedule[K]> }

export interface WrittenSchedule {
  readonly when: When
  readonly policies: Policies
}

/** `schedule: "0 7 * * 1-5"`, or a map with `when` and how it is gone about. */
export function scheduleOf(value: unknown): WrittenSchedule {
  const given: Readonly<Record<string, unknown>> = isObjectOrArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [camel(key), inner]))
    : { when: value }
  const other = Object.keys(given).find((key) => !known.includes(key))
  if (other !== undefined) throw new WrongValue(`must not say "${other}"; it may say ${known.join(', ')}`)
  const { when, tz, timeZone = tz, as, session, overlap, catchUp, jitter } = given
  if (typeof when !== 'string') throw new WrongValue('must say when, such as "0 7 * * 1-5", "every 2h" or "at 2026-05-01 09:00"')
  try {
    const jitterMs = jitter === undefined ? undefined : parseDuration(String(jitter))
    if (jitter !== undefined && jitterMs === undefined) throw new WrongValue('must have a jitter such as 90s or 30m')
    const policies: Policies = {
      ...some('name', textIn('as', as)),
      ...some('session', oneOf('session', textIn('session', session), ['new', 'keep'] as const)),
      ...some('overlap', oneOf('overlap', textIn('overlap', overlap), overlaps)),
      ...some('catchUp', oneOf('catch_up', textIn('catch_up', catchUp), catchUps)),
      ...some('jitterMs', jitterMs),
    }
    return { when: parseWhen(when, { timeZone: textIn('tz', timeZone) }), policies }
  } catch (error) {
    if (error instanceof PawlError) throw new WrongValue(`must be right: ${messageOf(error).replace(/\.$/, '')}`)
    throw error
  }
}

const known = ['when', 'tz', 'timeZone', 'as', 'session', 'overlap', 'catchUp', 'jitter']

function textIn(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new WrongValue(`must have text as its ${name}`)
}

const some = <K extends string, T>(key: K, value: T | undefined) =>
  value === undefined ? {} : ({ [key]: value } as Record<K, T>)
