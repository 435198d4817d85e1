import { formatDuration, parseDuration } from '../../../../src/domain/base/duration.ts'
import type { ScheduleChanges, ScheduleView, When } from '../../../../src/domain/schedule/schedule.ts'

/** What stands in the fields of a schedule that is edited, as text. */
export interface WrittenSchedule {
  readonly name: string
  readonly kind: When['kind']
  readonly whenText: string
  readonly timeZone: string
  readonly idleOf: 'agent' | 'session'
  readonly session: ScheduleView['session']
  readonly overlap: ScheduleView['overlap']
  readonly catchUp: ScheduleView['catchUp']
  readonly jitter: string
  readonly prompt: string
  readonly agent: string
  readonly model: string
  readonly profile: string
  readonly workspace: string
}

export function writtenSchedule(schedule: ScheduleView): WrittenSchedule {
  const { when } = schedule
  return {
    name: schedule.name ?? '',
    kind: when.kind,
    whenText: textOf(when),
    timeZone: when.kind === 'cron' ? when.timeZone : Intl.DateTimeFormat().resolvedOptions().timeZone,
    idleOf: when.kind === 'idle' ? when.of : 'agent',
    session: schedule.session,
    overlap: schedule.overlap,
    catchUp: schedule.catchUp,
    jitter: formatDuration(schedule.jitterMs),
    prompt: schedule.prompt,
    agent: schedule.agent ?? '',
    model: schedule.model ?? '',
    profile: schedule.profile ?? '',
    workspace: schedule.workspace ?? '',
  }
}

function textOf(when: When): string {
  switch (when.kind) {
    case 'cron':
      return when.expression
    case 'every':
      return formatDuration(when.everyMs)
    case 'at':
      return when.at
    case 'idle':
      return formatDuration(when.idleMs)
    case 'initial':
      return ''
  }
}

/** When it comes, in the words that the daemon reads; empty while something is missing. */
export function whenWords({ kind, whenText }: WrittenSchedule): string {
  if (kind === 'initial') return 'initial'
  if (whenText.trim() === '') return ''
  return kind === 'cron' ? whenText.trim() : `${kind} ${whenText.trim()}`
}

const taskFields = ['prompt', 'agent', 'model', 'profile', 'workspace'] as const

/** What cannot even be sent; undefined if all can. */
export function faultIn(written: WrittenSchedule, before: WrittenSchedule): string | undefined {
  if (whenWords(written) === '') return 'Say when it is to come.'
  if (written.prompt.trim() === '') return 'Say what is to be done.'
  if (parseDuration(written.jitter) === undefined) return `“${written.jitter}” is no time; write 90s, 30m or 2h.`
  const emptied = (['name', 'agent', 'model', 'profile', 'workspace'] as const).find(
    (field) => before[field] !== '' && written[field].trim() === '',
  )
  return emptied && `Its ${emptied} cannot be left out again; say another one, or make a new schedule.`
}

/** Only what differs: what is not named stays as it is. `when` is what the daemon made of the words. */
export function changesOf(written: WrittenSchedule, before: WrittenSchedule, when: When | undefined): ScheduleChanges {
  const differs = (field: keyof WrittenSchedule) => written[field] !== before[field]
  const task = Object.fromEntries(taskFields.filter(differs).map((field) => [field, written[field].trim()]))
  return {
    ...(differs('name') ? { name: written.name.trim() } : {}),
    ...(when ? { when: when.kind === 'idle' ? { ...when, of: written.idleOf } : when } : {}),
    ...(differs('session') ? { session: written.session } : {}),
    ...(differs('overlap') ? { overlap: written.overlap } : {}),
    ...(differs('catchUp') ? { catchUp: written.catchUp } : {}),
    ...(differs('jitter') ? { jitterMs: parseDuration(written.jitter) ?? 0 } : {}),
    ...(Object.keys(task).length > 0 ? { task } : {}),
  }
}

/** The changes that take these back; undefined where something had no value before, which nobody can say. */
export function inverseOf(changes: ScheduleChanges, before: ScheduleView): ScheduleChanges | undefined {
  const earlier: Record<string, unknown> = { ...before }
  const taken = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, earlier[key]]))
  const { task, ...rest } = changes
  const inverse = { ...taken(Object.keys(rest)), ...(task ? { task: taken(Object.keys(task)) } : {}) }
  const values = [...Object.values(inverse), ...Object.values(inverse.task ?? {})]
  return values.includes(null) ? undefined : inverse
}
