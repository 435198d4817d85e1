import type { Command } from 'commander'
import { parseDuration } from '../../config/duration.ts'
import { parseWhen } from '../../config/when.ts'
import { didYouMean } from '../../domain/base/nearest.ts'
import { oneOf } from '../../domain/base/one-of.ts'
import { invalid, notFound } from '../../domain/error.ts'
import { catchUps, type NewSchedule, overlaps, type When } from '../../domain/schedule/schedule.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { Policies } from '../../task-file/schedule.ts'
import { ambiguous, fits, isPartOfId, isWholeId } from '../finding/find.ts'
import { oneLine } from '../text/plain.ts'

export interface ScheduleOptions {
  as?: string
  cron?: string
  every?: string
  at?: string
  idle?: string
  idleOf?: string
  initial?: boolean
  tz?: string
  keepSession?: boolean
  overlap?: string
  catchUp?: string
  jitter?: string
}

/** The arguments of the commands that make and change schedules, beside those of the task. */
export function defineSchedule(command: Command): Command {
  return command
    .optionsGroup('When:')
    .option('--cron <expression>', 'five fields or a word such as @daily: "0 7 * * 1-5"')
    .option('--tz <zone>', "whose clocks count, as in Europe/Berlin; this machine's if none was ever named")
    .option('--every <duration>', 'again and again: 90s, 30m, 2h, 1d')
    .option('--at <moment>', 'once: "2026-05-01 09:00", or with an offset of its own')
    .option('--idle <duration>', 'whenever nothing was queued or run for so long')
    .option('--idle-of <whose>', 'with --idle: whose rest counts, "agent" or "session"')
    .option('--initial', 'once, as soon as a daemon sees it')
    .optionsGroup('How:')
    .option('--as <name>', 'what the schedule is called')
    .option('--keep-session', 'each time goes on with the same conversation')
    .option('--overlap <policy>', 'if the last one has not ended: skip, queue, or cancel (it); skip if left out')
    .option('--catch-up <policy>', 'what is made up for after a time without a daemon: none, one, all; one if left out')
    .option('--jitter <duration>', 'fire each one up to so much later')
    .optionsGroup('The task:')
}

/** When it is to be due, if any of the options says so. */
export function whenOf(options: ScheduleOptions): When | undefined {
  const { cron, every, at, idle, initial, tz, idleOf } = options
  const written = [
    cron,
    every === undefined ? undefined : `every ${every}`,
    at === undefined ? undefined : `at ${at}`,
    idle === undefined ? undefined : `idle ${idle}`,
    initial ? 'initial' : undefined,
  ].filter((text) => text !== undefined)
  if (written.length > 1) throw invalid('Name one of --cron, --every, --at, --idle and --initial.')
  if (tz !== undefined && cron === undefined && at === undefined)
    throw invalid('--tz needs --cron or --at: nothing else goes by what clocks show.')
  if (idleOf !== undefined && idle === undefined) throw invalid('--idle-of needs --idle.')
  const [text] = written
  if (text === undefined) return undefined
  const when = parseWhen(text, { timeZone: tz })
  return when.kind === 'idle' ? { ...when, of: oneOf('--idle-of', idleOf, ['agent', 'session'] as const) ?? 'agent' } : when
}

export function policiesOf(options: ScheduleOptions): Policies {
  const overlap = oneOf('--overlap', options.overlap, overlaps)
  const catchUp = oneOf('--catch-up', options.catchUp, catchUps)
  const jitterMs = options.jitter === undefined ? undefined : parseDuration(options.jitter)
  if (options.jitter !== undefined && jitterMs === undefined) throw invalid('--jitter must be a duration such as 90s, 30m or 2h.')
  return {
    ...(options.as === undefined ? {} : { name: options.as }),
    ...(options.keepSession ? { session: 'keep' as const } : {}),
    ...(overlap === undefined ? {} : { overlap }),
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(jitterMs === undefined ? {} : { jitterMs }),
  }
}

/** With everything that nobody has said. */
export const wholeSchedule = (given: Pick<NewSchedule, 'when' | 'task'> & Policies): NewSchedule => ({
  session: 'new',
  overlap: 'skip',
  catchUp: 'one',
  jitterMs: 0,
  ...given,
})

/** The schedule that a person named: by its name, its id, or a part of that. */
export async function findSchedule(runtime: Pick<Runtime, 'listSchedules'>, named: string): Promise<string> {
  if (isWholeId('c', named)) return named
  const all = await runtime.listSchedules()
  const exact = all.find(({ name }) => name === named)
  if (exact) return exact.id
  const found = isPartOfId(named) ? all.filter(({ id }) => fits(named, id)) : []
  if (found.length > 1) throw ambiguous(named, { called: 'schedule', says: ({ name, says }) => name ?? says }, found)
  const names = all.flatMap(({ name }) => name ?? [])
  if (found.length === 0)
    throw notFound(`There is no schedule "${oneLine(named, 60)}"${didYouMean(named, names)} "pawl schedules ls" lists them.`)
  return found[0]!.id
}
