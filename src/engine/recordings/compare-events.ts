import { isObjectOrArray } from '../../domain/base/object.ts'
import { firstDifference } from '../../gateway/recordings/difference.ts'

export interface StoredEvent {
  readonly type: string
  readonly data: unknown
}

export interface EventsCompared {
  readonly recorded: number
  readonly replayed: number
  readonly difference: {
    readonly number: number
    readonly at: string
    readonly recorded: string
    readonly replayed: string
  } | null
}

/** Compares what happened in two runs, but for what the machine and not the agent did. */
export function compareEvents(
  recorded: readonly StoredEvent[],
  replayed: readonly StoredEvent[],
  normalise: (text: string) => string,
): EventsCompared {
  const [one, other] = [told(recorded, normalise), told(replayed, normalise)]
  const counts = { recorded: one.length, replayed: other.length }
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    if (JSON.stringify(one[at]) === JSON.stringify(other[at])) continue
    const place = firstDifference('', one[at], other[at])
    const difference = { number: at + 1, at: place.at.replace(/^\./, ''), recorded: place.one, replayed: place.other }
    return { ...counts, difference }
  }
  return { ...counts, difference: null }
}

/** What a run did and said. Its cost is counted anew, calls are compared by themselves, and the rest is about where and when it ran. */
const compared = /^(agent\.(?!usage$|retrying$|stderr$)|message\.|workspace\.|permission\.|network\.decided$|question\.asked$)/

function told(events: readonly StoredEvent[], normalise: (text: string) => string): StoredEvent[] {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return normalise(value)
    if (Array.isArray(value)) return value.map(clean)
    if (!isObjectOrArray(value)) return value
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, inner]) => [key, /Ms$|[Aa]t$/.test(key) ? null : clean(inner)]))
  }
  return events.flatMap(({ type, data }) => {
    if (type === 'run.ended') {
      const { outcome, category } = data as { outcome?: unknown; category?: unknown }
      return [{ type, data: { outcome, category } }]
    }
    return compared.test(type) ? [{ type, data: clean(data) }] : []
  })
}
