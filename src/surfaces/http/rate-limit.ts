import type { Clock } from '../../base/clock.ts'

/** So many at once, and so many per second in the long run. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/** More keys than anybody honest has; the ones that have rested longest go. */
const mostKeys = 10_000

/** One bucket per key, which fills by itself. */
export class Buckets {
  readonly #rate: Rate
  readonly #clock: Clock
  readonly #levels = new Map<string, { level: number; at: number }>()

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes one. 0 if there was one, else the whole seconds until there is. */
  take(key: string): number {
    const { burst, perSecond } = this.#rate
    const at = this.#clock.monotonic()
    const before = this.#levels.get(key)
    const level = before ? Math.min(burst, before.level + ((at - before.at) / 1_000) * perSecond) : burst
    const has = level >= 1
    // Put at the end: the first of the map is the one that has rested longest.
    this.#levels.delete(key)
    this.#levels.set(key, { level: has ? level - 1 : level, at })
    if (this.#levels.size > mostKeys) this.#levels.delete(this.#levels.keys().next().value!)
    return has ? 0 : Math.max(1, Math.ceil((1 - level) / perSecond))
  }
}
