import { once } from 'node:events'
import { describe, type ExpectStatic, test } from 'vitest'
import { findViolations, processesOf } from './check.ts'
import { CrashHome, pause } from './home.ts'
import { type Acknowledged, create, marksOf, newTask } from './scenario.ts'
import { until, uptime } from './wait.ts'

/** What PROMISES §1.2 names for one machine. */
const takeoverMs = 5_000

/** Most of their time is waiting, so they wait together; each has a home of its own. */
describe.concurrent('with a second engine on the same home', { timeout: 120_000 }, () => {
  test('the tasks of a killed daemon run again, the first within 5 s and each alone', ({ expect }) =>
    withHome((home) => killed(home, expect)))
  test('a daemon that was frozen for longer than its lease finds its runs taken, writes nothing of them and registers again', ({
    expect,
  }) => withHome((home) => frozen(home, expect)))
  test.for(['running', 'admitted'] as const)(
    'the task of a one-shot that was killed while it was %s becomes the task of the daemon',
    (state, { expect }) => withHome((home) => orphaned(home, state, expect)),
  )
  test('a task that a daemon admitted and did not live to start is queued again, whoever looks', ({ expect }) =>
    withHome((home) => admitted(home, expect)))
  test('or with none: behind walls nothing of an agent outlives its daemon by 2 s', ({ expect }) =>
    withHome((home) => alone(home, expect)))
})

async function withHome(work: (home: CrashHome) => Promise<void>): Promise<void> {
  const home = new CrashHome()
  try {
    await home.start()
    await work(home)
  } finally {
    await home.close()
  }
}

/** A daemon that runs two tasks, one inside walls and one without, and a second engine that has nothing to do. */
async function twoEngines(home: CrashHome, tag: string) {
  const tasks = [
    await create(home, { kind: 'stall-once', tag }),
    await create(home, { kind: 'stall-once', tag: `${tag}-walled`, walled: true }),
  ]
  const views = await Promise.all(tasks.map((task) => home.ask((client) => client.getTask(task.id))))
  await until('both agents work', 20_000, () => views.every((view) => marksOf(view).length > 0))
  const worker = await home.startWorker()
  const begunAgain = () => views.every((view) => marksOf(view).filter((mark) => mark.what === 'begin').length === 2)
  return { tasks, views, worker, begunAgain }
}

async function killed(home: CrashHome, expect: ExpectStatic): Promise<void> {
  const { tasks, views, worker, begunAgain } = await twoEngines(home, 'takeover')
  home.startsAgain = false
  const killedAt = uptime()
  home.killDaemon()
  await until('both agents work again', 20_000, begunAgain)
  const again = views.map((view) => marksOf(view).filter(({ what }) => what === 'begin')[1]!.at).sort((a, b) => a - b)
  expect((again[0]! - killedAt) * 1000).toBeLessThan(takeoverMs)
  // Either of them may have been the cause, so the other waits for its end.
  const ends = views.flatMap((view) => marksOf(view).filter(({ what }) => what === 'end'))
  expect(ends.filter(({ at }) => at < again[1]!)).toHaveLength(1)
  home.startsAgain = true
  await home.start()
  expect(await violations(home, tasks)).toEqual([])
  const gone = once(worker, 'exit')
  worker.kill('SIGTERM')
  await gone
}

async function orphaned(home: CrashHome, state: 'running' | 'admitted', expect: ExpectStatic): Promise<void> {
  // Admitted, and not yet taken: its job lies in a queue that nobody else reads.
  const oneShot =
    state === 'running'
      ? home.startOneShot('stall-once')
      : home.startOneShot('plain', { name: 'claim.before', victim: 'daemon', skip: 0 })
  const gone = once(oneShot, 'exit')
  const find = async () => (await home.ask((client) => client.listTasks({ tag: 'oneshot' }))).items
  let found = await find()
  for (; found.length === 0; found = await find()) await pause(20)
  if (state === 'running') {
    await until('its agent works', 20_000, () => marksOf(found[0]!).length > 0)
    oneShot.kill('SIGKILL')
  }
  await gone
  const kind = state === 'running' ? 'stall-once' : 'plain'
  const body = newTask({ kind, tag: 'oneshot' })
  expect(
    await violations(home, [{ id: found[0]!.id, key: 'oneshot', body, kind, ends: ['completed'], answers: [], lost: [] }]),
  ).toEqual([])
}

/** The engine that looks runs its own task only: it gives back what it may not take. */
async function admitted(home: CrashHome, expect: ExpectStatic): Promise<void> {
  home.startsAgain = false
  await home.arm({ name: 'task.admit.after', victim: 'daemon', skip: 0 })
  const gone = home.gone()
  // The daemon may die before it can confirm the task.
  const body = newTask({ kind: 'plain', tag: 'admitted' })
  const client = await home.client()
  await client.createTask(body, { idempotencyKey: 'admitted' }).catch(() => undefined)
  await gone
  const oneShot = home.startOneShot('plain')
  const found = await untilQueued(home)
  expect(found).toMatchObject([{ state: 'queued', outcome: 'interrupted' }])
  const ended = once(oneShot, 'exit')
  oneShot.kill('SIGTERM')
  await ended
  home.startsAgain = true
  await home.start()
  expect(
    await violations(home, [
      { id: found[0]!.id, key: 'admitted', body, kind: 'plain', ends: ['completed'], answers: [], lost: [] },
    ]),
  ).toEqual([])
}

async function untilQueued(home: CrashHome) {
  const look = () =>
    home
      .query<{ id: string; state: string; outcome: string }>(
        `select t.id, t.state, r.outcome from pawl.tasks t join pawl.runs r on r.task_id = t.id where 'admitted' = any(t.tags)`,
      )
      // Between the two engines the server is away.
      .catch(() => [])
  const deadline = performance.now() + 20_000
  for (;;) {
    const found = await look()
    if (found[0]?.state === 'queued' || performance.now() > deadline) return found
    await pause(20)
  }
}

/** Nobody is there to end the agent: its walls do. */
async function alone(home: CrashHome, expect: ExpectStatic): Promise<void> {
  const task = await create(home, { kind: 'hang', tag: 'alone', walled: true })
  const view = await home.ask((client) => client.getTask(task.id))
  await until('the agent works', 20_000, () => marksOf(view).length > 0)
  home.startsAgain = false
  const run = marksOf(view)[0]!.run
  expect(processesOf([run])).not.toEqual([])
  home.killDaemon()
  await until('its processes are gone', 2_000, () => processesOf([run]).length === 0)
}

async function frozen(home: CrashHome, expect: ExpectStatic): Promise<void> {
  const { tasks, worker, begunAgain } = await twoEngines(home, 'zombie')
  const { pid } = home
  home.killDaemon('SIGSTOP')
  await until('both agents work again', 40_000, begunAgain)
  home.killDaemon('SIGCONT')
  await until('the frozen daemon has registered again', 20_000, () => home.log().includes('takes runs again'))
  expect(home.pid).toBe(pid)
  expect(await violations(home, tasks)).toEqual([])
  const gone = once(worker, 'exit')
  worker.kill('SIGTERM')
  await gone
}

async function violations(home: CrashHome, tasks: readonly Acknowledged[]): Promise<string[]> {
  for (const task of tasks) {
    for (let tries = 0; (await home.ask((client) => client.getTask(task.id))).state !== 'completed'; tries++) {
      if (tries > 1_000) return [`C9: ${task.id} does not end`]
      await pause(20)
    }
  }
  return (await Promise.all(tasks.map((task) => findViolations(home, [task], task.body.tags![0]!)))).flat()
}
