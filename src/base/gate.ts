/** Lets so many through at once; the others wait in line. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

export function createGate(width: number): Gate {
  let free = width
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((turn) => waiting.push(turn))
    try {
      return await work()
    } finally {
      // The place goes straight to the next in line, so that nobody who comes meanwhile takes it first.
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
