/** One line of the table: what we do, what a peer does in the same run, and whether that is good enough. */
export interface Figure {
  readonly name: string
  readonly ours: string
  readonly peer: string
  /** Ours over the peer's, in the unit of both. */
  readonly ratio?: number | undefined
  readonly target: string
  /** Undefined: told for comparison, nobody promised it. */
  readonly isMet?: boolean | undefined
}

export interface Benchmark {
  readonly about: string
  measure(options: BenchOptions): Promise<Figure[]>
}

export interface BenchOptions {
  /** Where a CPU profile of each daemon goes, if one is wanted. */
  readonly profileDir?: string | undefined
  readonly say: (text: string) => void
}

export const quantile = (values: readonly number[], q: number): number => {
  if (values.length === 0) throw new Error('There is nothing to take a quantile of.')
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)]!
}
export const median = (values: readonly number[]) => quantile(values, 0.5)

/** Runs both sides in turn, so that a noisy minute of the machine falls on both. */
export async function interleave(rounds: number, ours: () => Promise<number>, peer: () => Promise<number>): Promise<Sides> {
  const sides: { ours: number[]; peer: number[] } = { ours: [], peer: [] }
  for (let round = 0; round < rounds; round++) {
    sides.ours.push(await ours())
    sides.peer.push(await peer())
  }
  return sides
}
export interface Sides {
  readonly ours: number[]
  readonly peer: number[]
}

/** The same work by so many at once, each taking the next number when it is done with one. */
export async function inParallel(count: number, width: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker))
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await work()
  return performance.now() - since
}

export const perSecond = (count: number, ms: number) => (count * 1000) / ms
export const rate = (value: number) => `${value < 100 ? value.toFixed(1) : Math.round(value)}/s`
export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
export const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`
