import type { ScheduleSummary, ScheduleView, TickView } from '../../domain/schedule/schedule.ts'
import { formatState, formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import type { Cli } from './cli.ts'

/** How a schedule is, in a few words; red where something is wrong. */
export function sayHealth(cli: Cli, { health }: Pick<ScheduleSummary, 'health'>): string {
  if (health.healthy) return 'ok'
  const times = health.failedInARow > 0 ? `${health.failedInARow} failed` : 'stuck'
  return cli.style('bad', times, process.stdout)
}

/** One schedule, line by line. */
export function describeSchedule(cli: Cli, schedule: ScheduleView): string[] {
  const { health, lastTick } = schedule
  const failing = health.failedInARow > 1 ? ` (${health.failedInARow} in a row)` : ''
  return [
    `schedule   ${schedule.id}${schedule.name === null ? '' : ` · ${oneLine(schedule.name)}`}`,
    `state      ${schedule.state}`,
    ...(health.healthy ? [] : [cli.style('bad', `unhealthy  ${oneLine(health.detail ?? '', 300)}${failing}`, process.stdout)]),
    `when       ${oneLine(schedule.says)}`,
    `agent      ${schedule.agent === null ? 'the default one' : oneLine(schedule.agent)}`,
    `workspace  ${schedule.workspace === null ? 'one of its own' : oneLine(schedule.workspace)}`,
    `session    ${schedule.session === 'new' ? 'a new one each time' : `goes on with ${schedule.sessionId ?? 'the first one'}`}`,
    `overlap    ${schedule.overlap}`,
    `catch-up   ${schedule.catchUp}`,
    ...(schedule.jitterMs > 0 ? [`jitter     up to ${schedule.jitterMs / 1000} s`] : []),
    ...(schedule.source === null ? [] : [`comes from ${oneLine(schedule.source)}`]),
    `prompt     ${oneLine(schedule.prompt, 200)}`,
    ...schedule.next.map(({ local }, index) => `${index === 0 ? 'next' : '    '}       ${local}`),
    ...(lastTick === null ? ['ticks      none yet'] : schedule.ticks.slice(0, 20).map((tick) => describeTick(cli, tick))),
    ...(schedule.ticks.length > 20 ? [`           and ${schedule.ticks.length - 20} older: --json has them`] : []),
  ]
}

function describeTick(cli: Cli, tick: TickView): string {
  const isBad = tick.state === 'failed' || tick.state === 'empty'
  const state = isBad ? cli.style('bad', tick.state, process.stdout) : sayTick(tick)
  const parts = [
    formatTime(tick.dueAt),
    state,
    tick.manual ? 'by hand' : undefined,
    tick.task ?? undefined,
    tick.detail ?? undefined,
  ]
  return `tick       ${parts
    .filter((part) => part !== undefined)
    .map((part) => (part === state ? part : oneLine(part, 200)))
    .join(' · ')}`
}

/** A tick goes on for as long as its task, which may itself be waiting for somebody. */
export const sayTick = ({ state, taskState }: TickView) =>
  state === 'running' && taskState !== null ? formatState(taskState) : state
