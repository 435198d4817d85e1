import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { bundle } from '../bundle.ts'
import { until } from '../engine/until.ts'

const { pawl: bin } = await bundle()
const quoted = (words: readonly string[]) => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')

/** A real terminal of a given size with a shell in it, as somebody sits at one: it is typed into, and looked at. */
export interface Terminal {
  /** Starts Pawl and prints `ended CODE` and the modes of the terminal when it is over. */
  pawl(...args: string[]): void
  /** Single keys by their names in tmux, such as Enter or Down. */
  press(...keys: string[]): void
  type(text: string): void
  clear(): void
  screen(): string
  lines(): string[]
  shows(wanted: string | RegExp): Promise<string>
  resize(columns: number, rows: number): void
  /** The process that `pawl` started. */
  pid(): number
  close(): void
}

export function openTerminal(
  home: string,
  {
    columns = 100,
    rows = 30,
    cwd = home,
    env = {},
  }: { columns?: number; rows?: number; cwd?: string; env?: Record<string, string> } = {},
): Terminal {
  const socket = `pawl-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  const tmux = (...args: string[]) => execFileSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  const variables = { PAWL_HOME: home, HOME: home, PATH: process.env.PATH!, LC_ALL: 'C.UTF-8', PS1: '$ ', ...env }
  const shell = `env -u NO_COLOR -u PAWL_CONFIG ${quoted(Object.entries(variables).map(([name, value]) => `${name}=${value}`))} sh`
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', cwd, shell)
  const screen = () => tmux('capture-pane', '-p')
  return {
    pawl(...args) {
      const command = `${quoted([process.execPath, bin, ...args])}; echo "ended $?"; stty -a | grep -o -- '-\\?icanon'`
      tmux('send-keys', '-l', command)
      tmux('send-keys', 'Enter')
    },
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    clear: () => void tmux('send-keys', '-l', 'clear\n'),
    screen,
    lines: () => screen().split('\n'),
    async shows(wanted) {
      let last = ''
      const isThere = () => {
        last = screen()
        return typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last)
      }
      await until(isThere, 60_000).catch(() => {
        throw new Error(`The terminal does not show ${wanted}:\n${last}`)
      })
      return last
    },
    resize: (width, height) => void tmux('resize-window', '-x', String(width), '-y', String(height)),
    pid() {
      const shellPid = tmux('display-message', '-p', '#{pane_pid}').trim()
      return Number(readFileSync(`/proc/${shellPid}/task/${shellPid}/children`, 'utf8').trim())
    },
    close: () => void tmux('kill-server'),
  }
}
