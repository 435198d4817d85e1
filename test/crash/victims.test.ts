import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Event } from '../../src/domain/event/event.ts'
import { eventsOf, findViolations, processesOf } from './check.ts'
import { CrashHome, killIfThere, pause } from './home.ts'
import { type Acknowledged, create, marksOf, play } from './scenario.ts'

const home = new CrashHome()
beforeAll(() => home.start())
afterAll(() => home.close())

test.for([
  ['without walls', false],
  ['behind walls', true],
] as const)(
  'an agent that is killed from outside %s is started once more and its task completes',
  { timeout: 60_000 },
  async ([name, walled]) => {
    const tag = `agent-${name.replaceAll(' ', '-')}`
    const made = await play(
      home,
      { kind: 'slow', tag, walled, seconds: 1 },
      {
        async onBegin({ id }) {
          const task = await home.ask((client) => client.getTask(id))
          for (const { pid } of processesOf([task.runs[0]!.id])) killIfThere(pid)
        },
      },
    )
    expect(await findViolations(home, [made], tag)).toEqual([])
    const { runs } = await home.ask((client) => client.getTask(made.id))
    expect(runs.map((run) => [run.outcome, run.category])).toEqual([
      ['failed', 'crashed'],
      ['succeeded', null],
    ])
  },
)

test.for([
  ['without walls', false],
  ['behind walls', true],
] as const)(
  'an agent that is killed %s when its conversation has just been restored goes on with it once more, and hears the answer',
  { timeout: 60_000 },
  async ([name, walled]) => {
    const tag = `restored-${name.replaceAll(' ', '-')}`
    await home.arm({ name: 'spawn.after', victim: 'agent', skip: 1 })
    const made = await play(home, { kind: 'restore', tag, walled })
    expect(await findViolations(home, [made], tag)).toEqual([])
    expect(made.lost).toMatchObject([{ wasArchived: true }])
    const { runs } = await home.ask((client) => client.getTask(made.id))
    expect(runs.map((run) => [run.outcome, run.category])).toEqual([
      ['blocked', null],
      ['failed', 'crashed'],
      ['succeeded', null],
    ])
    const said = (await eventsOf(home, made.id)).filter((event) => event.type.startsWith('session.'))
    expect(said.map((event) => [event.type, event.run])).toEqual([['session.restored', runs[1]!.id]])
  },
)

test('while the database is killed and started again the API answers 503, agents go on, and each task needs one run only', {
  timeout: 60_000,
}, async () => {
  const tag = 'database'
  const tasks = await Promise.all((['slow', 'plain'] as const).map((kind) => create(home, { kind, tag, seconds: 2 })))
  const slow = tasks[0]!
  const followed = follow(slow)
  await until(async () => (await home.ask((client) => client.getTask(slow.id))).runs.some((run) => run.walls !== null))
  const { pid, starts } = home
  const before = home.databaseProcesses()[0]
  home.killDatabase()
  const statuses = await statusesUntilBack(slow)
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses).toContain(503)
  await until(async () =>
    (await Promise.all(tasks.map(({ id }) => home.ask((client) => client.getTask(id))))).every(
      (task) => task.state === 'completed',
    ),
  )
  expect(home.databaseProcesses()[0]).not.toBe(before)
  expect({ pid: home.pid, starts: home.starts }).toEqual({ pid, starts })
  expect(await findViolations(home, tasks, tag)).toEqual([])
  expect((await home.ask((client) => client.getTask(slow.id))).runs).toHaveLength(1)
  expect(await followed).toEqual(await eventsOf(home, slow.id))
})

test('while the database hangs for longer than a lease an agent stands still, and goes on with the same run afterwards', {
  timeout: 90_000,
}, async () => {
  const tag = 'hanging'
  const task = await create(home, { kind: 'ticking', tag })
  const view = await home.ask((client) => client.getTask(task.id))
  await until(async () => marksOf(view).length > 1)
  const [run] = (await home.ask((client) => client.getTask(task.id))).runs
  const agents = processesOf([run!.id]).map(({ pid }) => pid)
  expect(agents).not.toEqual([])
  const frozen = home.databaseProcesses()
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  try {
    await until(async () => agents.every(isStopped))
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  }
  writeFileSync(join(view.workspace, 'finish'), '')
  await until(async () => (await home.ask((client) => client.getTask(task.id))).state === 'completed')
  expect((await home.ask((client) => client.getTask(task.id))).runs).toMatchObject([{ id: run!.id, outcome: 'succeeded' }])
  expect(await findViolations(home, [task], tag)).toEqual([])
})

test('PAWL_FAILPOINT names a place and what happens there', { timeout: 60_000 }, async () => {
  const other = new CrashHome({ fresh: true })
  try {
    other.environment.PAWL_FAILPOINT = 'schema.migrate.before=kill'
    await expect(other.start()).rejects.toThrow('SIGKILL')
    delete other.environment.PAWL_FAILPOINT
    await other.start()
    const made = await play(other, { kind: 'plain', tag: 'named' })
    expect(await findViolations(other, [made], 'named')).toEqual([])
  } finally {
    await other.close()
  }
})

/** One that has ended, as each `sleep` between two marks does, runs no more either. */
const isStopped = (pid: number) =>
  !existsSync(`/proc/${pid}/stat`) || /^\d+ \(.*\) [TZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

async function follow(task: Acknowledged): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of (await home.client()).followEvents(task.id, { until: 'rest' })) events.push(event)
  return events
}

/** Every status that plain readers and writers were given until the database was back. */
async function statusesUntilBack(task: Acknowledged): Promise<Set<number>> {
  const { url } = JSON.parse(readFileSync(join(home.dir, 'run.json'), 'utf8')) as { url: string }
  const headers = {
    Authorization: `Bearer ${readFileSync(join(home.dir, 'token'), 'utf8').trim()}`,
    'Content-Type': 'application/json',
  }
  const body = JSON.stringify(task.body)
  const statuses = new Set<number>()
  for (let good = 0; good < 20; ) {
    const answers = await Promise.all([
      fetch(`${url}/api/v1/tasks/${task.id}`, { headers }),
      fetch(`${url}/api/v1/tasks`, { headers }),
      fetch(`${url}/api/v1/tasks/${task.id}/events`, { headers: { ...headers, Accept: 'application/json' } }),
      fetch(`${url}/api/v1/questions`, { headers }),
      fetch(`${url}/api/v1/tasks`, { method: 'POST', headers: { ...headers, 'Idempotency-Key': task.key }, body }),
      fetch(`${url}/readyz`, { headers }),
    ])
    for (const answer of answers) {
      await answer.arrayBuffer()
      statuses.add(answer.status)
    }
    good = answers.every((answer) => answer.ok) ? good + 1 : 0
  }
  return statuses
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isSo())) {
    if (performance.now() > deadline)
      throw new Error(`not within 30 s: ${isSo}. The daemon's log ends with\n${home.log().split('\n').slice(-20).join('\n')}`)
    await pause(15)
  }
}
