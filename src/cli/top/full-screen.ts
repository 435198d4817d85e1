import { writeSync } from 'node:fs'
import { drawable, steer } from '../terminal/terminal.ts'

/**
 * The whole terminal, drawn line by line: only lines that differ are written, in one piece, so nothing flickers. What was on the
 * terminal before comes back on every way out: by `leave`, at the end of the process, and before a crash is reported.
 */
export class FullScreen {
  #shown: readonly string[] = []
  #isEntered = false
  readonly #onResize: () => void

  constructor(onResize: () => void) {
    this.#onResize = () => {
      this.forget()
      onResize()
    }
  }

  get size(): { columns: number; rows: number } {
    // The last column stays empty: terminals disagree about where the cursor is after it.
    return { columns: (process.stdout.columns || 80) - 1, rows: process.stdout.rows || 24 }
  }

  enter(): void {
    if (this.#isEntered) return
    this.#isEntered = true
    process.once('exit', this.#restore)
    process.once('uncaughtExceptionMonitor', this.#restore)
    process.stdout.on('resize', this.#onResize)
    process.on('SIGCONT', this.#onResize)
    // Lines that are too wide after all are cut by the terminal and break nothing.
    steer(process.stdout, `${esc}[?1049h${esc}[?25l${esc}[?7l${esc}[2J`)
    this.forget()
  }

  leave(): void {
    process.stdout.off('resize', this.#onResize)
    process.off('SIGCONT', this.#onResize)
    process.off('exit', this.#restore)
    process.off('uncaughtExceptionMonitor', this.#restore)
    this.#restore()
  }

  /** The next drawing writes everything anew. */
  forget(): void {
    this.#shown = []
  }

  /** `cursor` counts rows and columns from 0; without one none is seen. */
  draw(lines: readonly string[], cursor?: { row: number; column: number }): void {
    if (!this.#isEntered) return
    const rows = this.size.rows
    const isFirst = this.#shown.length === 0
    const changed = Array.from({ length: rows }, (_, row) => ({ row, text: lines[row] ?? '' }))
      .filter(({ row, text }) => isFirst || text !== (this.#shown[row] ?? ''))
      .map(({ row, text }) => `${esc}[${row + 1};1H${esc}[2K${drawable(process.stdout, text)}${esc}[0m`)
    const place = cursor ? `${esc}[${cursor.row + 1};${cursor.column + 1}H${esc}[?25h` : `${esc}[?25l`
    this.#shown = lines.slice(0, rows)
    steer(process.stdout, `${esc}[?2026h${changed.join('')}${place}${esc}[?2026l`)
  }

  readonly #restore = () => {
    if (!this.#isEntered) return
    this.#isEntered = false
    try {
      // At once: at the end of a process nothing else is written any more.
      writeSync(1, `${esc}[?2026l${esc}[?7h${esc}[?25h${esc}[0m${esc}[?1049l`)
    } catch {
      // The terminal is gone, and with it what would have to be put right.
    }
  }
}

const esc = '\x1b'
