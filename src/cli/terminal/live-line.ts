import { formatElapsed, formatUntil } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import type { Cli } from './cli.ts'
import { print, steer } from './terminal.ts'

const shortestGapMs = 100
/** What stands before an action, and a little more. */
const leadColumns = 26

/** Of a text that grows its end is new: as much of that as fits beside the time and the state. */
export function lastWords(text: string, columns = process.stderr.columns || 80): string {
  const room = Math.max(columns - leadColumns, 10)
  const end = oneLine(text.slice(-4 * room))
  return end.length <= room ? end : `…${end.slice(1 - room)}`
}

/** The last line of a terminal: how long, in which state, doing what. Where no cursor may be moved, it only prints. */
export class LiveLine {
  readonly #cli: Cli
  readonly #draws: boolean
  readonly #startedAt = performance.now()
  #state = ''
  #action = ''
  #until: string | undefined
  #isShown = false
  #drawnAt = Number.NEGATIVE_INFINITY
  #tick: NodeJS.Timeout | undefined
  #pending: NodeJS.Timeout | undefined

  constructor(cli: Cli) {
    this.#cli = cli
    this.#draws = !cli.globals.quiet && cli.canDraw(process.stderr)
    if (this.#draws) this.#tick = setInterval(() => this.#draw(), 1000)
  }

  /** False where only whole lines may be printed. */
  get isDrawn(): boolean {
    return this.#draws
  }

  /** `until` is counted down beside the state. */
  set(state: string, action: string, until?: string): void {
    this.#state = state
    this.#until = until
    this.#action = action
    this.#draw()
  }

  /** Prints above the line, as it is. */
  print(text: string): void {
    this.clear()
    this.#cli.say(text, { isWrapped: false })
    this.#draw()
  }

  /** The same for a sentence of ours. */
  note(text: string): void {
    this.clear()
    this.#cli.say(text)
    this.#draw()
  }

  clear(): void {
    if (this.#isShown) steer(process.stderr, '\r\x1b[2K')
    this.#isShown = false
  }

  stop(): void {
    clearInterval(this.#tick)
    clearTimeout(this.#pending)
    this.#tick = undefined
    this.#pending = undefined
    this.clear()
  }

  get #countdown(): string {
    return this.#until === undefined ? this.#state : `${this.#state}, goes on ${formatUntil(this.#until)}`
  }

  #draw(): void {
    if (!this.#draws || this.#tick === undefined || this.#state === '') return
    const wait = this.#drawnAt + shortestGapMs - performance.now()
    if (wait > 0) {
      this.#pending ??= setTimeout(() => {
        this.#pending = undefined
        this.#draw()
      }, wait)
      return
    }
    this.#drawnAt = performance.now()
    const text = [formatElapsed(Math.floor((performance.now() - this.#startedAt) / 1000) * 1000), this.#countdown, this.#action]
      .filter(Boolean)
      .join(' · ')
    steer(process.stderr, '\r\x1b[2K')
    print(process.stderr, this.#cli.style('faint', oneLine(text, (process.stderr.columns || 80) - 1)))
    this.#isShown = true
  }
}
