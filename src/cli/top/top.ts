import { clientSettings } from '../../config/config.ts'
import { findDaemon } from '../../daemon/machine/run-file.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { CostView } from '../../domain/money/cost-view.ts'
import { type Connection, connect } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { type Key, Keys } from '../terminal/keys.ts'
import { print } from '../terminal/terminal.ts'
import { attachTo } from '../watching/attach-screen.ts'
import { answerFor, cancelIt, cancelText, giveAnswer, tryAgain } from './actions.ts'
import { FullScreen } from './full-screen.ts'
import { type Item, type Line, listLines, type Mode, screenLines } from './lines.ts'
import { loadOverview, type Overview } from './overview.ts'

/** Events come in crowds; what they changed is asked for at most so often. */
const refreshMs = 400
/** Money is summed over many rows and moves slowly. */
const costsMs = 5_000

/** The live overview, until somebody leaves it. Gives the exit code. */
export async function runTop(cli: Cli): Promise<number> {
  const connection = await connect(cli, { work: 'none' })
  const top = new Top(cli, connection)
  try {
    return await top.run()
  } finally {
    await top.close()
  }
}

class Top {
  readonly #cli: Cli
  #connection: Connection
  readonly #screen = new FullScreen(() => this.#draw())
  #keys: Keys | undefined
  readonly #over = Promise.withResolvers<number>()
  readonly #stop = new AbortController()
  #overview: Overview | undefined
  #costs: { view: CostView; at: number } | undefined
  #selected: string | undefined
  #mode: Mode = { kind: 'list' }
  /** What is answered or cancelled: another row may be chosen by the time it is done. */
  #subject: Item | undefined
  #notice = ''
  #link: 'live' | 'away' | 'none'
  #refreshing: Promise<void> | undefined
  #isStale = false
  #isAttached = false

  constructor(cli: Cli, connection: Connection) {
    this.#cli = cli
    this.#connection = connection
    this.#link = connection.isDaemon ? 'live' : 'none'
  }

  async run(): Promise<number> {
    const ended = (signal: NodeJS.Signals) => this.#over.resolve(signal === 'SIGTERM' ? 143 : signal === 'SIGHUP' ? 129 : 130)
    const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const
    for (const signal of signals) process.on(signal, ended)
    process.stdin.once('end', () => this.#over.resolve(0))
    const tick = setInterval(() => this.#draw(), 1_000)
    try {
      this.#screen.enter()
      this.#keys = new Keys((key) => this.#pressed(key))
      this.#draw()
      this.#refresh()
      void this.#follow()
      return await this.#over.promise
    } finally {
      clearInterval(tick)
      for (const signal of signals) process.off(signal, ended)
      this.#keys?.stop()
      this.#screen.leave()
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#connection.close()
  }

  /** Every event may have changed something. A daemon that is gone is waited for, wherever the next one listens. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const lost = new AbortController()
      const watched = this.#connection
      watched.onDaemon((state) => {
        this.#link = state
        if (state === 'live') this.#refresh()
        else void this.#lookForAnother(watched, lost)
        this.#draw()
      })
      try {
        for await (const _ of watched.runtime.followFeed({ signal: AbortSignal.any([signal, lost.signal]) })) this.#refresh()
      } catch (error) {
        this.#notice = messageOf(error)
      }
      if (signal.aborted) return
      if (watched === this.#connection) {
        this.#link = watched.isDaemon ? 'away' : 'none'
        this.#draw()
        await new Promise((done) => setTimeout(done, 1_000))
      }
    }
  }

  async #lookForAnother(watched: Connection, lost: AbortController): Promise<void> {
    const { home } = await clientSettings({ cwd: this.#cli.cwd, ...this.#cli.globals })
    while (!this.#stop.signal.aborted && this.#link === 'away' && watched === this.#connection) {
      const found = await findDaemon(home)
      if (found && found.url !== watched.url) {
        this.#connection = await connect(this.#cli, { work: 'none' })
        this.#link = 'live'
        this.#notice = ''
        lost.abort()
        await watched.close()
        this.#refresh()
        return
      }
      await new Promise((done) => setTimeout(done, 500))
    }
  }

  #refresh(): void {
    this.#isStale = true
    this.#refreshing ??= this.#load().finally(() => {
      this.#refreshing = undefined
    })
  }

  async #load(): Promise<void> {
    while (this.#isStale && !this.#stop.signal.aborted) {
      this.#isStale = false
      const kept = this.#costs && performance.now() - this.#costs.at < costsMs ? this.#costs.view : undefined
      try {
        const { costs, ...overview } = await loadOverview(this.#connection.runtime, kept)
        if (!kept) this.#costs = { view: costs, at: performance.now() }
        this.#overview = overview
        if (this.#link === 'away') this.#link = 'live'
      } catch (error) {
        // One that is away is said above all; its next event brings us back here.
        if (!(error instanceof PawlError && error.code === 'unavailable')) this.#notice = messageOf(error)
        else if (this.#connection.isDaemon) this.#link = 'away'
      }
      this.#draw()
      await new Promise((done) => setTimeout(done, refreshMs))
    }
  }

  get #items(): Item[] {
    return listLines({ overview: this.#overview, nowMs: Date.now() }, 80).flatMap(({ item }) => item ?? [])
  }

  get #chosen(): Item | undefined {
    return this.#items.find(({ key }) => key === this.#selected)
  }

  #draw(): void {
    if (this.#isAttached) return
    const items = this.#items
    // What was chosen may have gone; the list begins with what matters most.
    if (!items.some(({ key }) => key === this.#selected)) this.#selected = items[0]?.key
    const { lines, cursor } = screenLines(
      {
        overview: this.#overview,
        selected: this.#selected,
        mode: this.#mode,
        notice: this.#notice,
        link: this.#link,
        nowMs: Date.now(),
      },
      this.#screen.size,
    )
    this.#screen.draw(
      lines.map((line) => this.#styled(line)),
      cursor,
    )
  }

  #styled({ text, tone, isSelected }: Line & { isSelected?: boolean }): string {
    if (!this.#cli.canDraw(process.stdout)) return text
    if (isSelected) return `\x1b[7m${text}\x1b[27m`
    return tone === 'title' ? `\x1b[1m${text}\x1b[22m` : this.#cli.style(tone, text, process.stdout)
  }

  #pressed(key: Key): void {
    if (key.ctrl && (key.name === 'c' || key.name === 'd')) this.#over.resolve(0)
    switch (this.#mode.kind) {
      case 'list':
        this.#notice = ''
        this.#command(key)
        break
      case 'help':
        this.#mode = { kind: 'list' }
        break
      case 'confirm': {
        const subject = this.#subject
        this.#mode = { kind: 'list' }
        if (key.name === 'y' && subject) this.#do(() => cancelIt(this.#connection.runtime, subject))
        break
      }
      case 'answer':
        this.#type(key, this.#mode)
    }
    this.#draw()
  }

  #command({ name, text }: Key): void {
    const items = this.#items
    const at = items.findIndex(({ key }) => key === this.#selected)
    const to = place(text === 'G' ? 'end' : name, at, items.length)
    const item = this.#chosen
    if (to !== undefined) this.#selected = items[to]?.key
    else if (name === 'q') this.#over.resolve(0)
    else if (text === '?') this.#mode = { kind: 'help' }
    else if (item) this.#commandFor(item, name)
  }

  #commandFor(item: Item, name: string): void {
    this.#subject = item
    if (name === 'return' || name === 'enter') void this.#attach(item)
    else if (name === 'c') this.#mode = { kind: 'confirm', text: cancelText(item) }
    else if (name === 'r') this.#do(() => tryAgain(this.#connection.runtime, item))
    else if (name === 'a')
      this.#do(async () => {
        const asking = await answerFor(this.#connection.runtime, item)
        if (!asking) return 'Nothing is asked here; choose a line under NEEDS YOU.'
        this.#mode = asking
        return ''
      })
  }

  #type(key: Key, mode: Extract<Mode, { kind: 'answer' }>): void {
    const typed = (text: string) => {
      this.#mode = { ...mode, typed: text }
    }
    if (key.name === 'escape') this.#mode = { kind: 'list' }
    else if (key.ctrl && key.name === 'u') typed('')
    else if (key.name === 'backspace')
      typed(
        [...new Intl.Segmenter().segment(mode.typed)]
          .slice(0, -1)
          .map(({ segment }) => segment)
          .join(''),
      )
    else if (key.name === 'return' || key.name === 'enter') {
      const subject = this.#subject
      if (mode.typed.trim() === '' || !subject) return
      this.#do(async () => {
        const said = await giveAnswer(this.#connection.runtime, subject, mode.typed)
        this.#mode = { kind: 'list' }
        return said
      })
    } else if (key.text !== '') typed(mode.typed + key.text)
  }

  /** Carries something out and tells what came of it; a refusal is told the same way. */
  #do(work: () => Promise<string>): void {
    work()
      .catch((error: unknown) => messageOf(error).split('\n')[0]!)
      .then((said) => {
        this.#notice = said
        this.#refresh()
        this.#draw()
      })
  }

  async #attach({ task }: Item): Promise<void> {
    this.#isAttached = true
    this.#keys?.stop()
    this.#screen.leave()
    try {
      const { state } = await this.#connection.runtime.getTask(task)
      await attachTo(this.#cli, this.#connection, task)
      const after = await this.#connection.runtime.getTask(task)
      // What it said last would be gone before anybody has read it.
      if (after.state !== 'running' || state !== 'running') await this.#anyKey()
    } catch (error) {
      this.#notice = messageOf(error)
    }
    this.#isAttached = false
    this.#screen.enter()
    this.#keys = new Keys((key) => this.#pressed(key))
    this.#refresh()
    this.#draw()
  }

  async #anyKey(): Promise<void> {
    print(process.stderr, 'Press any key to go back.\n')
    const pressed = Promise.withResolvers<void>()
    const keys = new Keys(() => pressed.resolve())
    await Promise.race([pressed.promise, this.#over.promise])
    keys.stop()
  }
}

/** Where a key leads in a list of so many, if it leads anywhere. */
function place(name: string, at: number, count: number): number | undefined {
  const steps: Record<string, number> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: -10,
    pagedown: 10,
    g: -count,
    home: -count,
    end: count,
  }
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, at + step))
}
