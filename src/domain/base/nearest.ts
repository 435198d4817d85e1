/** The candidate that was probably meant by a mistyped word; undefined when none is near enough to be worth saying. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase()
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase())
    const tolerated = Math.max(1, Math.floor(Math.max(typed.length, candidate.length) / 3))
    if (distance > tolerated || distance >= Math.min(typed.length, candidate.length)) continue
    if (!best || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate
}

/** Ends a sentence about an unknown word: `; did you mean "agents"?`, or a full stop when nothing is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = nearest(word, candidates)
  return meant === undefined ? '.' : `; did you mean "${meant}"?`
}

/** Insertions, deletions, substitutions, and swaps of neighbours, each counted as one. */
export function editDistance(a: string, b: string): number {
  // A word longer than any name we know is nobody's typo; the bound keeps hostile input cheap.
  if (a.length > 100 || b.length > 100) return a === b ? 0 : Math.max(a.length, b.length)
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, beforeLast[j - 2]! + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
