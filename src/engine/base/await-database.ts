import { type Clock, sleep } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { isDiskFull, isPassing } from '../../store/database.ts'
import type { Watch } from './watch.ts'

const databaseBackWithinMs = 15_000

/** The end of the run waits for the database all the same. One that is full, or that stays away, is not waited for: the files are still on disk. */
export async function whenDatabaseIsBack<T>(
  { clock }: { readonly clock: Clock },
  { watch }: { readonly watch: Watch },
  work: () => Promise<T>,
): Promise<T> {
  const deadline = clock.monotonic() + databaseBackWithinMs
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || isDiskFull(error) || watch.reason || clock.monotonic() > deadline) throw error
      await sleep(clock, delayMs)
    }
  }
}

/** The end of a run must be written: while the database is away or full we keep trying. If others take the task meanwhile, the fence refuses what we write. */
export async function persistently<T>(parts: { readonly clock: Clock }, log: Log, work: () => Promise<T>): Promise<T> {
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error)) throw error
      log.warn('the end of a run is not stored yet', { error: String(error) })
      await new Promise<void>((again) => void parts.clock.after(delayMs, again))
    }
  }
}
