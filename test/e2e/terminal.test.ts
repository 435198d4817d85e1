import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle } from '../bundle.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl } from './pawl.ts'

const { pawl: bin } = await bundle()

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome('pawl-terminal-')
  await writeFile(join(home.path, 'config.yaml'), 'agents:\n  asking: { adapter: demo, ask: true, profile: unattended-open }\n')
})
afterAll(() => home.remove())

/** The command line with a person in front of it: `script` gives it a terminal, and what is typed comes by our end of a pipe. */
function atTerminal(...args: string[]) {
  const quoted = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], {
    cwd: home.path,
    env: { PATH: process.env.PATH, HOME: home.path, PAWL_HOME: home.path, SHELL: '/bin/sh', TERM: 'xterm', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += stripVTControlCharacters(text)
  })
  return {
    screen: () => screen,
    shows: (text: string) => until(() => screen.includes(text), 60_000),
    type: (text: string) => void child.stdin.write(text),
    ended: once(child, 'close').then(([code]) => code as number),
  }
}

it('a question is put to whoever sits at the terminal, a slip is told, and the task ends with the answer', async () => {
  const terminal = atTerminal('run', '--scratch', '--agent', 'asking', 'look around')
  await terminal.shows('Number or answer (Ctrl-C leaves it open): ')
  expect(terminal.screen()).toContain('The agent asks:')
  expect(terminal.screen()).toMatch(/ 1\. .*\r?\n +2\. /)
  terminal.type('9\r')
  await terminal.shows('There is no option 9; choose one, or answer in words:')
  terminal.type('1\r')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain('You asked: look around')
  const { items } = json<{ items: { state: string }[] }>(await pawl(home.path, ['ls', '--json']))
  expect(items).toMatchObject([{ state: 'completed' }])
}, 120_000)

it('a question that is left with Ctrl-C stays open, and the command says how to answer it', async () => {
  const terminal = atTerminal('run', '--scratch', '--agent', 'asking', 'look again')
  await terminal.shows('(Ctrl-C leaves it open): ')
  terminal.type('\x03')
  expect(await terminal.ended).not.toBe(0)
  expect(terminal.screen()).toMatch(/pawl answer/)
  const { items } = json<{ items: { state: string }[] }>(await pawl(home.path, ['questions', '--json']))
  expect(items).toHaveLength(1)
}, 120_000)
