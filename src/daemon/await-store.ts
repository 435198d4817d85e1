import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { messageOf } from '../domain/error.ts'

const firstPauseMs = 500
const longestPauseMs = 15_000
const logEveryMs = 60_000

/**
 * Opens the store of a daemon or worker, which may be up before its database is: waits with growing pauses for one that cannot be reached, is starting or recovers,
 * and says so at once and then once a minute. Anything else, a wrong password say, is thrown.
 */
export async function awaitStore<T>(open: () => Promise<T>, { clock, log }: { clock: Clock; log: Log }): Promise<T> {
  let loggedAt = Number.NEGATIVE_INFINITY
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await open()
    } catch (error) {
      if (!isNotUpYet(error)) throw error
      if (clock.monotonic() - loggedAt >= logEveryMs) {
        loggedAt = clock.monotonic()
        log.warn('the database is not up yet; Pawl waits for it', { error: messageOf(error), reason: 'database_awaited' })
      }
      await sleep(clock, pauseMs)
    }
  }
}

/** True for what passes by itself when a database comes up, its network and its name included. */
export function isNotUpYet(error: unknown): boolean {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown }
  // Of a name with several addresses, each with its own reason.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isNotUpYet)
  if (typeof code === 'string' && /^(57P0[1-3]|53300|08|ECONN|EHOST|ENET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)/.test(code))
    return true
  if (error instanceof Error && /Connection terminated|timeout expired/i.test(error.message)) return true
  return cause !== undefined && isNotUpYet(cause)
}
