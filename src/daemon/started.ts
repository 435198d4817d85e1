import type { Log } from '../base/log.ts'

/** What has been started, so that it can be stopped: last first. */
export interface Started {
  /** Adds how a part is stopped. */
  add(stop: () => Promise<unknown>): void
  readonly isStopping: boolean
  /**
   * May be called twice; when it resolves, all has stopped, or had its time. One part that fails to stop does not keep the others from it; one that hangs, on a database
   * that does not answer, say, is left behind, and what it still held is given back by whoever starts next.
   */
  stop(): Promise<void>
}

/** Longer than an agent and what it leaves behind take to be put in order. */
const stopWithinMs = 20_000
/** For all that had no turn by then, side by side. */
const lastMs = 3_000

export function createStarted(log: Log, time = { withinMs: stopWithinMs, lastMs }): Started {
  const parts: (() => Promise<unknown>)[] = []
  let stopping: Promise<void> | undefined
  const stopOne = (stop: () => Promise<unknown>) =>
    stop().catch((error: unknown) => log.error('a part did not stop cleanly', { error: String(error) }))
  const stopAll = async () => {
    const left = parts.toReversed()
    const inTurn = async () => {
      for (let stop = left.shift(); stop; stop = left.shift()) await stopOne(stop)
    }
    const isOver = inTurn()
    if (await within(isOver, time.withinMs)) return
    log.error('stopping takes too long; what is left is stopped at once', { parts: left.length, reason: 'stop_overdue' })
    const all = Promise.all([isOver, ...left.splice(0).map(stopOne)])
    if (!(await within(all, time.lastMs))) log.error('some parts have not stopped; they end with the process')
  }
  return {
    add: (stop) => void parts.push(stop),
    get isStopping() {
      return stopping !== undefined
    },
    stop() {
      stopping ??= stopAll()
      return stopping
    },
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((done) => {
    timer = setTimeout(done, ms, false)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
