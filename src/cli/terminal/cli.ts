import { styleText } from 'node:util'
import { jsonLine, wrap } from '../text/plain.ts'
import type { Tone } from '../text/render.ts'
import { print, printData } from './terminal.ts'

/** Options that every command takes. */
export interface Globals {
  json?: boolean
  home?: string
  config?: string
  databaseUrl?: string
  /** False with --no-color. */
  color?: boolean
  quiet?: boolean
  trust?: boolean
}

/** Where a command reads and writes. Results go to stdout, everything else to stderr. */
export class Cli {
  readonly cwd: string
  globals: Globals = {}
  /** What the process ends with. */
  exitCode = 0
  /** Told when a person is asked something, who then has the keyboard alone, and when that is over. */
  onAsking: ((isAsking: boolean) => void) | undefined

  constructor(cwd: string) {
    this.cwd = cwd
  }

  /** A person can be asked: they see stderr and their keys reach us. */
  get isInteractive(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true
  }

  /** A line of the result. */
  out(line: string): void {
    print(process.stdout, `${line}\n`)
  }

  /** The result as JSON on one line. */
  json(value: unknown): void {
    printData(`${jsonLine(value)}\n`)
  }

  /** Progress and hints; nobody's input. */
  say(line: string, { isWrapped = true } = {}): void {
    if (this.globals.quiet) return
    const columns = isWrapped && process.stderr.isTTY ? process.stderr.columns : 0
    print(process.stderr, `${columns > 0 ? wrap(line, columns) : line}\n`)
  }

  /** Colours and cursor movements only where a terminal shows them and nobody objects; the stream itself looks at NO_COLOR and TERM. */
  canDraw(stream: NodeJS.WriteStream): boolean {
    return this.globals.color !== false && stream.isTTY === true && stream.hasColors()
  }

  style(tone: Tone, text: string, stream: NodeJS.WriteStream = process.stderr): string {
    if (tone === 'normal' || !this.canDraw(stream)) return text
    return styleText(tones[tone], text, { validateStream: false })
  }
}

const tones = { faint: 'dim', good: 'green', bad: 'red', ask: 'yellow' } as const
