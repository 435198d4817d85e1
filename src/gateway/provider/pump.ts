import type { Clock } from '../../base/clock.ts'
import type { ClientAnswer } from '../client/answer.ts'
import type { Source } from './source.ts'

/** How the reading of an answer ended: in full, broken off by the provider, left by the client, or too long without a piece of it. */
export type End = 'whole' | 'cut' | 'gone' | 'late'

export interface Pumping {
  readonly answer: ClientAnswer
  readonly clock: Clock
  readonly idleMs: number
  /** False if no more is wanted before the client has taken what it has. What it throws ends the reading. */
  take(chunk: Buffer): boolean
}

/** Reads a provider's answer as fast as the client takes it, and stops as soon as the client is gone. */
export function pump(source: Source, { answer, clock, idleMs, take }: Pumping): Promise<End> {
  const { promise, resolve, reject } = Promise.withResolvers<End>()
  let last = clock.monotonic()
  let cancel = clock.after(idleMs, watch)
  let isStopped = false

  // One timer for the whole answer, however many pieces it has.
  function watch(): void {
    const left = last + idleMs - clock.monotonic()
    if (left <= 0) finish('late')
    else cancel = clock.after(left, watch)
  }
  function finish(end: End): void {
    if (isStopped) return
    stop(end !== 'whole')
    resolve(end)
  }
  function stop(isCut: boolean): void {
    isStopped = true
    cancel()
    answer.gone.removeEventListener('abort', leave)
    if (isCut) source.destroy()
  }
  function data(chunk: Buffer): void {
    if (isStopped) return
    last = clock.monotonic()
    try {
      if (take(chunk)) return
    } catch (thrown) {
      stop(true)
      reject(thrown)
      return
    }
    source.pause()
    answer.onDrain(() => source.resume())
  }
  const leave = () => finish('gone')

  if (answer.gone.aborted) leave()
  else {
    answer.gone.addEventListener('abort', leave)
    source.read({ data, end: (isWhole) => finish(isWhole ? 'whole' : 'cut') })
  }
  return promise
}
