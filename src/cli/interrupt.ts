/** What a person at the terminal has asked for by Ctrl-C, or another program by SIGTERM or SIGHUP. */
export class Interruption {
  count = 0
  /** Set once nobody wants to wait any longer. */
  readonly #leave = new AbortController()
  #heardAt = Number.NEGATIVE_INFINITY
  #react: ((count: number) => void) | undefined
  #isHangup = false

  constructor() {
    process.on('SIGINT', this.#heard)
    process.on('SIGTERM', this.#heard)
    process.on('SIGHUP', this.#hungUp)
  }

  get left(): AbortSignal {
    return this.#leave.signal
  }

  /** The exit code that tells why we left. */
  get exitCode(): number {
    return this.#isHangup ? 129 : 130
  }

  /** Until then a second Ctrl-C ends the process. */
  onInterrupt(react: (count: number) => void): void {
    this.#react = react
  }

  leave(): void {
    this.#leave.abort()
  }

  stop(): void {
    process.off('SIGINT', this.#heard)
    process.off('SIGTERM', this.#heard)
    process.off('SIGHUP', this.#hungUp)
  }

  readonly #heard = () => {
    // One keypress can arrive twice, from the terminal and from a parent that passes it on.
    const now = performance.now()
    if (now - this.#heardAt < 100) return
    this.#heardAt = now
    this.count++
    if (this.#react) this.#react(this.count)
    else if (this.count > 1) process.exit(this.exitCode)
  }

  readonly #hungUp = () => {
    this.#isHangup = true
    this.leave()
  }
}
