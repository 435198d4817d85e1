import type { When } from './schedule.ts'

/** When a schedule is due, in words. */
export function sayWhen(when: When): string {
  switch (when.kind) {
    case 'cron':
      return `${when.expression} ${when.timeZone}`
    case 'every':
      return `every ${length(when.everyMs)}`
    case 'at':
      return `at ${when.at}`
    case 'idle':
      return `when its ${when.of === 'agent' ? 'agent' : 'conversation'} has rested for ${length(when.idleMs)}`
    case 'initial':
      return 'once, as soon as a daemon sees it'
  }
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

function length(ms: number): string {
  const unit = units.find(([, size]) => ms % size === 0)
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms`
}
