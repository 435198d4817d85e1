import type { ScheduleHealth, TickState } from './schedule.ts'

/** What is told of a tick when the health of its schedule is asked for. */
export interface ToldTick {
  readonly state: TickState
  readonly detail: string | null
}

/** So many left out in a row mean that something has been stuck for a while. */
const skipsThatMatter = 3

/** Later than this is more than a daemon that was busy. */
const lateMs = 5 * 60_000

/**
 * How a schedule is, from its ticks, newest first. One that failed, or ended and brought nothing, is told at once: the next may be a week away. What a person cancelled,
 * what is under way and what was missed says nothing either way.
 */
export function healthOf(ticks: readonly ToldTick[], next?: { readonly dueAt: Date | null; readonly now: Date }): ScheduleHealth {
  const telling = ticks.filter(({ state }) => state === 'succeeded' || state === 'failed' || state === 'empty')
  const firstGood = telling.findIndex(({ state }) => state === 'succeeded')
  const failedInARow = firstGood === -1 ? telling.length : firstGood
  if (failedInARow > 0) return { healthy: false, failedInARow, detail: sayTick(telling[0]!) }
  const dueAt = next?.dueAt?.getTime()
  if (dueAt !== undefined && next!.now.getTime() - dueAt > lateMs)
    return {
      healthy: false,
      failedInARow: 0,
      detail: `It was due at ${new Date(dueAt).toISOString()} and was not fired; "pawl doctor" looks at the daemon.`,
    }
  const firstOther = ticks.findIndex(({ state }) => state !== 'skipped')
  const skips = firstOther === -1 ? ticks.length : firstOther
  if (skips >= skipsThatMatter)
    return { healthy: false, failedInARow: 0, detail: `The last ${skips} ticks were left out. ${ticks[0]?.detail ?? ''}`.trim() }
  return { healthy: true, failedInARow: 0, detail: null }
}

const sayTick = ({ state, detail }: ToldTick) =>
  detail ?? (state === 'empty' ? 'The agent ended well but said nothing.' : 'It failed.')
