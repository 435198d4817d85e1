/** So long the output of one agent may be worked on before everything else has its turn. */
const shareMs = 5

/**
 * Shares this thread out among agents and everything else that it does. Called for each thing that an agent says; answers a promise when the agent has used up its share
 * of this turn of the event loop, for whoever reads it to await: one read of a pipe brings thousands of lines, and the journal may have room for all of them.
 */
export function createShare(): () => Promise<void> | undefined {
  let since: number | undefined
  return () => {
    if (since === undefined) {
      since = performance.now()
      setImmediate(() => {
        since = undefined
      })
      return undefined
    }
    return performance.now() - since < shareMs ? undefined : nextShare()
  }
}

/** Agents that have more to say, first come first served. */
const waiting: (() => void)[] = []

function nextShare(): Promise<void> {
  return new Promise((goOn) => {
    if (waiting.push(goOn) === 1) setImmediate(next)
  })
}

/** One in each turn of the loop: however many flood at once, a turn takes no longer than with one of them. */
function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
