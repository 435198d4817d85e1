import type { Clock } from '../../base/clock.ts'
import type { Shown } from '../../store/tokens.ts'

/** What was read about tokens, believed for a second at most: asking the database with each request would cost more than the request. */
export interface Believed {
  /** `isFresh` if it was read just now. */
  find(hash: Buffer): Promise<{ shown: Shown | undefined; isFresh: boolean }>
  /** Somebody's rights have changed: nothing that was read before is believed, also if its answer is still on the way. */
  forget(): void
}

const believedMs = 1_000
const mostBelieved = 1_000

export function createBelieved(options: { clock: Clock; read: (hash: Buffer) => Promise<Shown | undefined> }): Believed {
  const { clock, read } = options
  const believed = new Map<string, { readonly shown: Shown; readonly readAt: number }>()
  let changes = 0
  return {
    async find(hash) {
      const key = hash.toString('base64')
      const known = believed.get(key)
      if (known && clock.monotonic() - known.readAt < believedMs) return { shown: known.shown, isFresh: false }
      believed.delete(key)
      const [before, readAt] = [changes, clock.monotonic()]
      const shown = await read(hash)
      if (shown && before === changes) {
        if (believed.size >= mostBelieved) believed.clear()
        believed.set(key, { shown, readAt })
      }
      return { shown, isFresh: true }
    },
    forget() {
      changes++
      believed.clear()
    },
  }
}
