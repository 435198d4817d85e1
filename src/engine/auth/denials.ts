import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { Audit } from './audit.ts'

/** Writes refused attempts into the audit: the first at once, those like it that follow within a minute as one more entry with their number. */
export interface Denials {
  note(attempt: Attempt): void
  /** Writes what was only counted so far. */
  stop(): Promise<void>
}

export interface Attempt {
  /** Where it came from. */
  readonly peer: string
  /** The user, where somebody is known. */
  readonly user?: string | undefined
  readonly why: 'host' | 'origin' | 'token' | 'right' | 'code'
  readonly method: string
  readonly path: string
}

const windowMs = 60_000
/** Whoever comes from more places than this in a minute is counted as one. */
const mostKeys = 1_000

export function createDenials(options: { audit: Audit; clock: Clock; log: Log }): Denials {
  const { audit, clock, log } = options
  const open = new Map<string, { first: Attempt; more: number; cancel: () => void }>()
  const writing = new Set<Promise<void>>()

  const write = ({ peer, user = 'stranger', why, method, path }: Attempt, times: number) => {
    const done = audit
      .record({ by: peer, user, token: peer }, 'denied', path.slice(0, 200), { why, method, times })
      .catch((error: unknown) => log.warn('a refused attempt was not written down', { error: messageOf(error) }))
      .finally(() => writing.delete(done))
    writing.add(done)
  }
  const close = (key: string) => {
    const seen = open.get(key)
    open.delete(key)
    seen?.cancel()
    if (seen && seen.more > 0) write(seen.first, seen.more)
  }

  return {
    note(attempt) {
      const { peer, user, why } = attempt
      const key = open.size < mostKeys ? JSON.stringify([peer, user, why]) : why
      const seen = open.get(key)
      if (seen) {
        seen.more++
        return
      }
      open.set(key, { first: attempt, more: 0, cancel: clock.after(windowMs, () => close(key)) })
      write(attempt, 1)
    },
    async stop() {
      for (const key of [...open.keys()]) close(key)
      await Promise.all(writing)
    },
  }
}
