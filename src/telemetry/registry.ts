/**
 * Numbers in the text form that Prometheus reads. Ours, because what we count is a short list that a page of the docs is made of, and labels must be bounded
 * whatever agents and models are called.
 */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}
export type Definitions = Readonly<Record<string, MetricDefinition>>
export type Labels = Readonly<Record<string, string>>

/** Beyond this many values of one label the rest is counted together: names come from outside. */
const mostValues = 50
const buckets = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 10_800]

interface Series {
  readonly labels: Labels
  value: number
  /** Of a histogram: how many were at most as large as each bucket. */
  readonly counts?: number[]
  count?: number
}

export interface Registry<Name extends string> {
  add(name: Name, labels: Labels, value?: number): void
  observe(name: Name, labels: Labels, seconds: number): void
  /** All that is counted, with gauges that are known only now. */
  render(gauges: readonly Sample<Name>[]): string
}

export interface Sample<Name extends string> {
  readonly name: Name
  readonly labels?: Labels
  readonly value: number
}

export function createRegistry<Name extends string>(definitions: Readonly<Record<Name, MetricDefinition>>): Registry<Name> {
  const series = new Map<Name, Map<string, Series>>()
  const last = new Map<Name, { readonly given: Labels; readonly found: Series }>()
  const values = new Map<string, Set<string>>()
  const bounded = (name: Name, labels: Labels): Labels =>
    Object.fromEntries(
      Object.entries(labels).map(([label, value]) => {
        const key = `${name} ${label}`
        const seen = values.get(key) ?? new Set()
        values.set(key, seen)
        if (!seen.has(value) && seen.size >= mostValues) return [label, 'other']
        seen.add(value)
        return [label, value]
      }),
    )
  const foundAs = (labels: Labels, all: Map<string, Series>, make: (labels: Labels) => Series): Series => {
    const found = all.get(keyOf(labels)) ?? make(labels)
    all.set(keyOf(labels), found)
    return found
  }
  const find = (name: Name, given: Labels, make: (labels: Labels) => Series): Series => {
    // Nearly always that of the last time, or one that is known.
    const before = last.get(name)
    if (before && isSame(before.given, given)) return before.found
    const all = series.get(name) ?? new Map<string, Series>()
    series.set(name, all)
    const found = all.get(keyOf(given)) ?? foundAs(bounded(name, given), all, make)
    last.set(name, { given, found })
    return found
  }

  return {
    add(name, labels, value = 1) {
      if (!(value >= 0)) return
      find(name, labels, (bound) => ({ labels: bound, value: 0 })).value += value
    },
    observe(name, labels, seconds) {
      const found = find(name, labels, (bound) => ({ labels: bound, value: 0, counts: buckets.map(() => 0), count: 0 }))
      found.value += seconds
      found.count = (found.count ?? 0) + 1
      for (let n = buckets.length - 1; n >= 0 && seconds <= buckets[n]!; n--) found.counts![n]!++
    },
    render(gauges) {
      const byName = Map.groupBy(gauges, ({ name }) => name)
      const lines: string[] = []
      for (const [name, { type, help }] of Object.entries(definitions) as [Name, MetricDefinition][]) {
        lines.push(`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`)
        for (const { labels = {}, value } of byName.get(name) ?? []) lines.push(line(name, labels, value))
        for (const one of series.get(name)?.values() ?? [])
          lines.push(...(type === 'histogram' ? histogram(name, one) : [line(name, one.labels, one.value)]))
      }
      return `${lines.join('\n')}\n`
    },
  }
}

const keyOf = (labels: Labels) => JSON.stringify(labels)

const isSame = (one: Labels, other: Labels) => isWithin(one, other) && isWithin(other, one)

function isWithin(one: Labels, other: Labels): boolean {
  for (const label in one) if (one[label] !== other[label]) return false
  return true
}

function histogram(name: string, { labels, counts = [], count = 0, value }: Series): string[] {
  return [
    ...buckets.map((bound, n) => line(`${name}_bucket`, { ...labels, le: String(bound) }, counts[n] ?? 0)),
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${name}_sum`, labels, value),
    line(`${name}_count`, labels, count),
  ]
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${Number.isFinite(value) ? String(value) : 'NaN'}`
}

const escapedHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escaped = (text: string) => escapedHelp(text).replaceAll('"', '\\"')
