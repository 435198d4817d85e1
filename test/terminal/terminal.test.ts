import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { json, pawl, type Running, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'
import { openTerminal } from './tmux.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Running
let work: string
const fakeAgent = join(import.meta.dirname, '..', 'fake-agent', 'fake-agent.js')

beforeAll(async () => {
  home = await makeHome('pawl-terminal-')
  work = join(home.path, 'work')
  await mkdir(work)
  await writeFile(
    join(home.path, 'config.yaml'),
    `agents:
  asking: { adapter: demo, ask: true, profile: unattended-open }
  talking: { adapter: custom, command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(fakeAgent)}], profile: unattended-open }
budget: { day: 20 }
`,
  )
  daemon = await serve(home.path)
}, 120_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
}, 120_000)

const ask = async (...args: string[]) => (await pawl(home.path, args, { cwd: work })).stdout.trim()
const at = (size: { columns?: number; rows?: number } = {}, env?: Record<string, string>) => {
  const terminal = openTerminal(home.path, { ...size, cwd: work, ...(env ? { env } : {}) })
  onTestFinished(() => terminal.close())
  return terminal
}

test('pawl alone shows what needs somebody, takes the answer there, and gives the terminal back', {
  timeout: 120_000,
}, async () => {
  const id = await ask('run', '--detach', '--agent', 'asking', 'look around')
  const terminal = at()
  terminal.pawl()
  await terminal.shows(/NEEDS YOU 1\n> \w{6} {2}asking +asks: What shall/)
  expect(terminal.lines()[0]).toMatch(/^pawl +\$0\.00 of \$20\.00 today · live$/)
  terminal.press('?')
  await terminal.shows('cancel the task (asks once more)')
  terminal.press('x')
  await terminal.shows('NEEDS YOU 1')
  terminal.press('a')
  await terminal.shows(/The agent asks:\n.*\n {2}1\. the kinds of files\n {2}2\. the largest files/)
  terminal.type('9')
  terminal.press('Enter')
  await terminal.shows('There is no option 9')
  terminal.press('BSpace', '1', 'Enter')
  await terminal.shows(/Nothing needs you\.\n(.*\n)*DONE TODAY 1\n> \w{6} {2}asking +completed/)
  const task = json<{ questions: { answer: string }[] }>(await pawl(home.path, ['show', id, '--json']))
  expect(task.questions[0]?.answer).toBe('the kinds of files')
  terminal.press('q')
  const left = await terminal.shows(/ended 0\nicanon/)
  expect(left).not.toContain('DONE TODAY')
})

test('cancel asks once more, retry queues again, and both are told', { timeout: 120_000 }, async () => {
  const id = await ask('run', '--detach', '--agent', 'asking', 'to be cancelled')
  const terminal = at()
  terminal.pawl('top')
  await terminal.shows('NEEDS YOU 1')
  terminal.press('c')
  await terminal.shows(`Cancel ${id.slice(-6)} "to be cancelled"? y: yes`)
  terminal.press('n')
  await terminal.shows('enter open')
  terminal.press('c')
  await terminal.shows('y: yes')
  terminal.press('y')
  await terminal.shows(new RegExp(`DONE TODAY \\d\\n(.*\\n)*. ${id.slice(-6)} +asking +cancelled`))
  terminal.press('g', 'r')
  await terminal.shows(`${id.slice(-6)} is queued again.`)
  await terminal.shows('NEEDS YOU 1')
  await ask('cancel', id)
})

test('a prompt of Trojan Source is shown as it is, and a word from right to left stays in its place', {
  timeout: 120_000,
}, async () => {
  const name = 'a\u202eb\u2066c\u200b \u001b]52;c;aGk=\u0007 \rover שלום 5'
  const id = await ask('run', '--detach', '--agent', 'asking', '--name', name, 'rm\u202e -rf \u001b[8mhidden\u001b[0m')
  const terminal = at({ columns: 160 })
  terminal.pawl('show', id)
  const seen = await terminal.shows('ended 0')
  expect(seen).toContain('a<U+202E>b<U+2066>c<U+200B> <U+001B>]52;c;aGk=<U+0007> <U+000D>over')
  expect(seen).toMatch(/\u2068?שלום\u2069? 5/)
  expect(seen).toContain('rm<U+202E> -rf <U+001B>[8mhidden<U+001B>[0m')
  await ask('cancel', id)
})

test('forty columns are enough, and wide characters and escapes of agents disturb nothing', { timeout: 120_000 }, async () => {
  await ask('run', '--detach', '--agent', 'asking', '--name', '漢字かな交じり文の長い題名と絵文字🎉🎉🎉', 'x')
  await ask('run', '--detach', '--agent', 'asking', '--name', 'evil \u001b[2J\u001b]0;title\u0007 \u202e gone', 'y')
  const terminal = at({ columns: 100, rows: 20 })
  terminal.pawl('top')
  await terminal.shows('NEEDS YOU 2')
  terminal.press('c')
  await terminal.shows(/Cancel \w{6} "漢字かな|Cancel \w{6} "evil/)
  terminal.press('n')
  terminal.resize(40, 16)
  await terminal.shows(/^pawl +\$0\.00 of \$20\.00 today · live$/m)
  const narrow = await terminal.shows('NEEDS YOU 2')
  expect(narrow).not.toContain('\u001b]0;')
  for (const line of terminal.lines()) expect([...line].length).toBeLessThanOrEqual(40)
  terminal.press('c')
  await terminal.shows('Cancel')
  terminal.press('y')
  await terminal.shows('NEEDS YOU 1')
  terminal.press('g', 'c', 'y')
  await terminal.shows(/cancelled .*evil/)
  const done = await terminal.shows(/cancelled .*漢/)
  // Each of them takes two columns, so the line is cut where forty are full.
  const wide = done.split('\n').find((line) => /cancelled .*漢/.test(line))!
  expect(wide).toMatch(/^. \w{6} {2}cancelled .*漢.*…$/)
})

test('a daemon that is gone is said so, and another one is found wherever it listens', { timeout: 180_000 }, async () => {
  const terminal = at()
  terminal.pawl('top')
  await terminal.shows('today · live')
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await terminal.shows('RECONNECTING: what you see may be old')
  daemon = await serve(home.path)
  await terminal.shows('today · live')
  await ask('run', '--detach', '--agent', 'asking', 'after the restart')
  await terminal.shows('NEEDS YOU 1')
  process.kill(terminal.pid(), 'SIGTERM')
  await terminal.shows(/ended 143\nicanon/)
  await ask('cancel', 'last')
})

test('attach shows a task live, takes its answer, and detaches without stopping it', { timeout: 120_000 }, async () => {
  const id = await ask('run', '--detach', '--agent', 'asking', 'attach to me')
  const terminal = at({ columns: 90 })
  terminal.pawl('attach', id.slice(-6))
  await terminal.shows('Number or answer (Ctrl-C leaves it open):')
  terminal.press('q', 'Enter')
  await terminal.shows('To send "q" as the answer, write it once more.')
  terminal.type('2')
  terminal.press('Enter')
  await terminal.shows(/completed after .*\nended 0\nicanon/)
  expect(json<{ questions: { answer: string }[] }>(await pawl(home.path, ['show', id, '--json'])).questions[0]?.answer).toBe(
    'the largest files',
  )

  const long = await ask('run', '--detach', '--agent', 'talking', '[{"speak":"here I am"},{"hang":true}]')
  terminal.clear()
  terminal.pawl('attach', long)
  await terminal.shows('Attached: q or Ctrl-D detaches')
  terminal.press('C-c')
  await terminal.shows(`To stop it: pawl cancel ${long.slice(-6)}.`)
  terminal.press('q')
  await terminal.shows(/Detached; it goes on.*\nended 0\nicanon/)
  expect(json<{ state: string }>(await pawl(home.path, ['show', long, '--json'])).state).toBe('running')
  terminal.clear()
  terminal.pawl('attach', long)
  await terminal.shows('Attached')
  process.kill(terminal.pid(), 'SIGTERM')
  await terminal.shows(/ended 143\nicanon/)
  await ask('cancel', long, '--now')
})

test('without colours the overview is drawn all the same', { timeout: 60_000 }, async () => {
  const terminal = at({}, { NO_COLOR: '1' })
  terminal.pawl('top')
  await terminal.shows('today · live')
  terminal.press('q')
  await terminal.shows('ended 0')
})
