import { invalid } from '../domain/error.ts'
import type { Log } from './log.ts'

/**
 * Named places where a test may end a process. Idle unless armed; `fp('x')` then costs one map look-up.
 * Every state move has one before its commit and one after; test/crash walks all of them.
 */
type Action = () => void | Promise<void>

const armed = new Map<string, { action: Action; skip: number }>()

export function armFailpoint(name: string, action: Action, options: { skip?: number } = {}): void {
  armed.set(name, { action, skip: options.skip ?? 0 })
}

export function fp(name: string): void | Promise<void> {
  if (armed.size === 0) return
  const point = armed.get(name)
  if (!point) return
  if (point.skip > 0) {
    point.skip--
    return
  }
  armed.delete(name)
  return point.action()
}

/** Arms what PAWL_FAILPOINT names: each happens at its place once, after it was passed `skip` times. */
export function armFailpoints(
  points: readonly { readonly name: string; readonly action: string; readonly skip: number }[],
  { databasePid, log }: { databasePid: () => number | undefined; log: Log },
): void {
  const actions: Record<string, Action> = {
    kill: () => {
      process.kill(process.pid, 'SIGKILL')
      // The signal takes effect before the next turn of the loop; nothing of ours may run meanwhile.
      return new Promise(() => {})
    },
    'kill-database': () => {
      const pid = databasePid()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    },
    freeze: () => {
      process.kill(process.pid, 'SIGSTOP')
    },
    throw: () => {
      throw new Error('a failpoint threw')
    },
  }
  for (const { name, action, skip } of points) {
    const seconds = /^block(\d+)$/.exec(action)?.[1]
    const act = seconds === undefined ? actions[action] : () => block(Number(seconds) * 1_000)
    if (!act)
      throw invalid(
        `PAWL_FAILPOINT: there is no action "${action}"; there are ${Object.keys(actions).join(', ')}, block<seconds>.`,
      )
    log.warn('a failpoint is armed', { name, action })
    armFailpoint(name, act, { skip })
  }
}

/** Keeps this thread, and nothing else of the process, from doing anything. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
