/** Reads the text form of Prometheus strictly, as its description says it; throws at the first line that is not of it. */
export interface Read {
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly { name: string; labels: Record<string, string>; value: number }[]
}

const sampleForm =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (NaN|[+-]?Inf|[-+]?[0-9.eE+-]+)$/
const pairForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/g

export function readPrometheus(text: string): Read {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const samples: Read['samples'][number][] = []
  const seen = new Set<string>()
  let family = ''
  const closed = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (helped.has(name)) throw new Error(`two descriptions of ${name}`)
      helped.add(name)
    } else if (kind === 'TYPE') {
      if (types.has(name)) throw new Error(`two types of ${name}`)
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) throw new Error(`${name} is a ${rest}`)
      types.set(name, rest)
    } else {
      const found = sampleForm.exec(line)
      if (!found) throw new Error(`no sample: ${line}`)
      const labels = Object.fromEntries([...(found[2] ?? '').matchAll(pairForm)].map(([, label, value]) => [label!, value!]))
      const base = found[1]!.replace(/_(bucket|sum|count)$/, '')
      const owner = types.get(base) === 'histogram' ? base : found[1]!
      if (!types.has(owner)) throw new Error(`${owner} has no type`)
      if (owner !== family && closed.has(owner)) throw new Error(`the lines of ${owner} are apart`)
      closed.add(owner)
      family = owner
      const key = `${found[1]} ${JSON.stringify(Object.entries(labels).sort())}`
      if (seen.has(key)) throw new Error(`twice: ${key}`)
      seen.add(key)
      const value = Number(found[3]!.replace('Inf', 'Infinity'))
      if (Number.isNaN(value)) throw new Error(`no number: ${line}`)
      samples.push({ name: found[1]!, labels, value })
    }
  }
  for (const [name, type] of types) if (type === 'histogram') assertBuckets(name, samples)
  return { types, samples }
}

/** Buckets only grow, and the last one holds all. */
function assertBuckets(name: string, samples: Read['samples']): void {
  const rest = ({ le: _, ...labels }: Record<string, string>) => JSON.stringify(labels)
  const groups = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels }) => rest(labels),
  )
  for (const [key, buckets] of groups) {
    const count = samples.find((sample) => sample.name === `${name}_count` && rest(sample.labels) === key)?.value
    const isGrowing = buckets.every(({ value }, n) => n === 0 || value >= buckets[n - 1]!.value)
    if (!isGrowing || buckets.at(-1)?.labels.le !== '+Inf' || buckets.at(-1)?.value !== count)
      throw new Error(`buckets of ${name} ${key}`)
  }
}
