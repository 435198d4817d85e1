import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHome } from '../../test/engine/ready-database.ts'
import { templateOf } from './commands/schedules-add.ts'
import { runCommand } from './terminal/testing.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
beforeAll(async () => {
  home = await makeHome('pawl-schedule-')
  folder = join(home.path, 'work')
  mkdirSync(folder)
})
const pawl = (...args: string[]) => runCommand(home.path, args, { cwd: folder })
afterAll(async () => {
  pawl('stop')
  await home.remove()
})

test('a schedule that there is none of is told as a task that there is none of, with the same exit code', {
  timeout: 60_000,
}, () => {
  const schedule = pawl('schedules', 'show', 'nowhere')
  const task = pawl('show', 'nowhere')
  expect(schedule.err).toMatch(/^pawl: There is no schedule "nowhere"/)
  expect(task.err).toMatch(/^pawl: There is no task "nowhere"/)
  expect([schedule.code, task.code]).toEqual([1, 1])
})

test('a schedule is made, listed, shown, changed, paused and removed, also without a daemon, and says that none runs', {
  timeout: 120_000,
}, () => {
  const made = pawl(
    'schedules',
    'add',
    '--agent',
    'demo',
    '--as',
    'morning',
    '--cron',
    '0 7 * * 1-5',
    '--tz',
    'Europe/Berlin',
    'look',
  )
  expect(made.out).toMatch(/^c_[0-9a-z]{18}\n$/)
  expect(made.err).toMatch(
    /Due next: \d{4}-\d\d-\d\d 07:00 \+0[12]:00 Europe\/Berlin\.\n.*nothing is fired until "pawl serve" runs/,
  )
  expect(pawl('schedules', 'ls').out).toMatch(/^SCHEDULE .*\nmorning +active +ok +- .*0 7 \* \* 1-5 Europe\/Berlin +look\n$/)
  // What is not named stays, the clocks it goes by among it.
  expect(pawl('schedules', 'edit', 'morning', '--cron', '0 8 * * 1-5').err).toMatch(/08:00 \+0[12]:00 Europe\/Berlin/)
  expect(pawl('schedules', 'edit', 'morning', '--tz', 'Asia/Kathmandu').err).toMatch(/08:00 \+05:45 Asia\/Kathmandu/)
  pawl('schedules', 'edit', 'morning', '--every', '2h', '--overlap', 'queue', '--prompt', 'look again')
  expect(pawl('schedules', 'pause', 'morning').err).toMatch(/It is paused/)
  const shown = pawl('schedules', 'show', 'morning').out
  expect(shown).toMatch(/state +paused\nwhen +every 2h\nagent +demo\n/)
  expect(shown).toMatch(/overlap +queue\n.*\nprompt +look again\n/)
  expect(pawl('schedules', 'rm', 'morning').code).toBe(0)
  expect(JSON.parse(pawl('schedules', 'ls', '--json').out)).toEqual({ items: [], next: null, refused: [] })
})

test('what a task that comes again is told is kept, a "no" too, and what is for one that comes once is refused', () => {
  expect(templateOf({ prompt: 'x', skipPlanning: false, attended: false, resetSession: false, model: undefined })).toEqual({
    prompt: 'x',
    skipPlanning: false,
  })
  expect(() => templateOf({ prompt: 'x', dependsOn: ['t_0123456789abcdefgh'] })).toThrow(
    '"dependsOn" is for a task that comes once',
  )
})

test('tasks of a file that say when they come again become schedules', { timeout: 120_000 }, () => {
  writeFileSync(
    join(folder, 'tasks.yaml'),
    '- {prompt: once, agent: demo}\n- {prompt: often, agent: demo, schedule: {when: every 2h, as: often}}\n',
  )
  const { out } = pawl('task', 'add', '-f', 'tasks.yaml', '--idempotent')
  expect(out).toMatch(/^t_\w+\nc_\w+\n$/)
  expect(pawl('task', 'add', '-f', 'tasks.yaml', '--idempotent').out).toBe(out)
  const daily = pawl('task', 'add', '--agent', 'demo', '--schedule', '@daily', '--tz', 'UTC', '--json', 'tidy up')
  expect(JSON.parse(daily.out)).toMatchObject({ state: 'active', says: '@daily UTC', prompt: 'tidy up' })
})

test.each([
  [['add', '--agent', 'demo', 'x'], /Say when/],
  [['add', '--cron', '0 0 30 2 *', 'x'], /never comes/],
  [['add', '--cron', '@daily', '--every', '2h', 'x'], /Name one of/],
  [['add', '--every', '2h', '--depends-on', 'abcd', 'x'], /for a task that comes once/],
  [['add', '--agent', 'demo', '--every', '2h', '--tz', 'UTC', 'x'], /--tz needs --cron or --at/],
  [['edit', 'x', '--keep-session', '--new-session'], /Either/],
])('pawl schedules %j is refused as a mistake of usage', { timeout: 60_000 }, (args, sentence) => {
  const { err, code } = pawl('schedules', ...args)
  expect(err).toMatch(sentence)
  expect(code).toBe(2)
})
