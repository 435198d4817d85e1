/** Versions of a program that it was tried with, both included. */
interface Tried {
  readonly from: string
  readonly to: string
}

/** What is said of a program that is newer than the newest tried one; undefined if it is not, or if nobody can tell. */
export function newerThanTried(title: string, tried: Tried | undefined, version: string | undefined): string | undefined {
  const is = numbersOf(version)
  const newest = numbersOf(tried?.to)
  if (!tried || !is || !newest || compare(is, newest) <= 0) return undefined
  return `${title} ${is.join('.')} is newer than ${tried.to}, the newest that Pawl was tried with; it is used all the same.`
}

/** The first numbers with dots in what a program prints as its version: `tool-cli 0.16.0 (build 5)`, `v1.2`. */
export function numbersOf(version: string | undefined): readonly number[] | undefined {
  return /\d{1,9}(?:\.\d{1,9}){1,3}/
    .exec(version ?? '')?.[0]
    .split('.')
    .map(Number)
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let place = 0; place < Math.max(a.length, b.length); place++) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
