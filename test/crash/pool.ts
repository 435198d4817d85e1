import { recoverTwice } from './cells.ts'
import { CrashHome } from './home.ts'

/** A few homes that serve many crashes one after another: a fresh one for each would cost more than the crash. */
export class Homes {
  readonly #free: CrashHome[] = []
  readonly #waiting: (() => void)[] = []
  readonly #keep: boolean
  readonly #behindProxy: boolean
  #left: number

  constructor(options: { count: number; keep?: boolean; behindProxy?: boolean }) {
    this.#left = options.count
    this.#keep = options.keep ?? false
    this.#behindProxy = options.behindProxy ?? false
  }

  /** Answers with what `work` found wrong. A home where anything was wrong serves nobody after. */
  async use(work: (home: CrashHome) => Promise<string[]>): Promise<string[]> {
    while (this.#left === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#left--
    const home = this.#free.pop() ?? new CrashHome({ behindProxy: this.#behindProxy })
    let wrong: string[]
    try {
      if (home.starts === 0) await home.start()
      wrong = await work(home)
    } catch (error) {
      wrong = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
    }
    if (wrong.length === 0) this.#free.push(home)
    else {
      // What is wrong comes last: of a long output the end is read.
      wrong.unshift(this.#keep ? `home: ${home.dir}` : lastWarnings(home))
      await home.close({ keep: this.#keep })
    }
    this.#left++
    this.#waiting.shift()?.()
    return wrong
  }

  /** Each home recovers once more: for the last of what it served nothing else has shown that this changes nothing. */
  async close(): Promise<void> {
    const homes = this.#free.splice(0)
    const wrong = await Promise.all(homes.map(recoverTwice))
    await Promise.all(homes.map((home) => home.close()))
    if (wrong.flat().length > 0) throw new Error(wrong.flat().join('\n'))
  }
}

/** The end of the daemon's log without its chatter: a failure elsewhere is read without its home. */
function lastWarnings(home: CrashHome): string {
  const lines = home
    .log()
    .split('\n')
    .filter((line) => !/"level":"(debug|info)"/.test(line))
  return ['the log ends with:', ...lines.slice(-25).map((line) => line.slice(0, 300))].join('\n')
}
