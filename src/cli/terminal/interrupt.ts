/** What a person at the terminal has asked for by Ctrl-C, or another program by SIGTERM or SIGHUP. */
export class Interruption {
  count = 0
  /** Set once nobody wants to wait any longer. */
  readonly #leave = new AbortController()
  readonly #isEcho = echoFilter()
  #exitCode: number | undefined
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
    return this.#exitCode ?? (this.#isHangup ? 129 : 130)
  }

  /** Until then a second Ctrl-C ends the process. */
  onInterrupt(react: (count: number) => void): void {
    this.#react = react
  }

  leave(exitCode?: number): void {
    this.#exitCode ??= exitCode
    this.#leave.abort()
  }

  stop(): void {
    process.off('SIGINT', this.#heard)
    process.off('SIGTERM', this.#heard)
    process.off('SIGHUP', this.#hungUp)
  }

  readonly #heard = () => {
    if (this.#isEcho()) return
    this.count++
    if (this.#react) this.#react(this.count)
    else if (this.count > 1) process.exit(this.exitCode)
  }

  readonly #hungUp = () => {
    this.#isHangup = true
    this.leave()
  }
}

/** True for a signal that follows another at once: one keypress or one word to the whole group can arrive twice, directly and from a parent that passes it on. */
export function echoFilter(): () => boolean {
  let heardAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - heardAt < 150) return true
    heardAt = now
    return false
  }
}
