import type { Fields } from '../../domain/base/object.ts'
import { asObject } from '../../domain/base/object.ts'
import { Usage } from '../../domain/money/usage.ts'

export interface UsageMeter {
  /** An update of one thread's counters: answers what is new. `counts` is false for one that only repeats what was used before this turn. */
  update(threadId: string, tokenUsage: unknown, counts: boolean): Usage | undefined
  /** What was used since the last time; undefined if nothing was told. */
  take(): Usage | undefined
}

/**
 * Counters are cumulative over a thread. What a turn used is the difference of `total`: `last` comes twice for one model call
 * (with the limits of the account, when the history is shortened), so that adding it up counts too much.
 */
export function createUsageMeter(): UsageMeter {
  const totals = new Map<string, Counters>()
  let used: Counters | undefined
  let calls = 0
  return {
    update(threadId, tokenUsage, counts) {
      const raw = asObject(tokenUsage)
      const total = readCounters(asObject(raw?.total))
      if (!total) return undefined
      const before = totals.get(threadId)
      totals.set(threadId, total)
      if (!counts) return undefined
      const delta = before ? minus(total, before) : (readCounters(asObject(raw?.last)) ?? total)
      if (delta.every((count) => count === 0)) return undefined
      used = used ? (used.map((count, at) => count + (delta[at] ?? 0)) as unknown as Counters) : delta
      calls++
      return toUsage(delta, 1)
    },
    take() {
      const usage = used && toUsage(used, calls)
      used = undefined
      calls = 0
      return usage
    },
  }
}

/** The figures of `exec`, which are those of the whole thread. */
export function readUsage(value: unknown): Usage | undefined {
  const counters = readCounters(asObject(value))
  return counters && toUsage(counters, 0)
}

/** Input with all that came from or went into the cache, from the cache, into the cache, output. */
type Counters = readonly [number, number, number, number]

function readCounters(raw: Fields | undefined): Counters | undefined {
  if (!raw) return undefined
  const count = (...names: string[]) => {
    const found = names.map((name) => raw[name]).find((value) => typeof value === 'number')
    return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : 0
  }
  return [
    count('inputTokens', 'input_tokens'),
    count('cachedInputTokens', 'cached_input_tokens'),
    count('cacheWriteInputTokens', 'cache_write_input_tokens'),
    count('outputTokens', 'output_tokens'),
  ]
}

const minus = (total: Counters, before: Counters) =>
  total.map((count, at) => Math.max(count - (before[at] ?? 0), 0)) as unknown as Counters

const toUsage = ([input, cacheReadTokens, cacheWriteTokens, outputTokens]: Counters, turns: number): Usage =>
  Usage.parse({
    inputTokens: Math.max(input - cacheReadTokens - cacheWriteTokens, 0),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens,
    turns,
  })
