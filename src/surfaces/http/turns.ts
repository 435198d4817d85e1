/** How many have a turn before whoever connects or asks meanwhile is served. Fifty who connect in one moment wait for as many rounds: so a round is short. */
const together = 2

/**
 * For long work in small steps that many do at once: a few of them have a turn, then everything else that waits for this process, then the next few. Each for itself could only
 * make room for the others of its kind: all of them together would keep new connections waiting, of which Node accepts one at a time.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  /** Resolves when it is the caller's turn, in the order of asking. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const next of this.#waiting.splice(0, together)) next()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}
