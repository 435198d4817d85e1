import type { Log } from '../base/log.ts'

/** What has been started, so that it can be stopped: last first. */
export interface Started {
  /** Adds how a part is stopped. */
  add(stop: () => Promise<unknown>): void
  readonly isStopping: boolean
  /** May be called twice; when it resolves, all has stopped. One part that fails to stop does not keep the others from it. */
  stop(): Promise<void>
}

export function createStarted(log: Log): Started {
  const parts: (() => Promise<unknown>)[] = []
  let stopping: Promise<void> | undefined
  const stopAll = async () => {
    for (const stop of parts.toReversed())
      await stop().catch((error: unknown) => log.error('a part did not stop cleanly', { error: String(error) }))
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
