/** Whoever says more than so many things in each of ten seconds says nothing that anybody will read. */
const sustainedSeconds = 10

/** Counts events by second; answers true once the limit was passed in ten seconds in a row. A limit of 0 is none. */
export function createFloodWatch(limit: number, monotonic: () => number): () => boolean {
  let second = Math.floor(monotonic() / 1000)
  let count = 0
  let fast = 0
  return () => {
    if (limit === 0) return false
    const now = Math.floor(monotonic() / 1000)
    if (now !== second) {
      // A second of silence in between is a pause, whatever came before it.
      fast = count > limit && now === second + 1 ? fast + 1 : 0
      second = now
      count = 0
    }
    count++
    return fast >= sustainedSeconds
  }
}
