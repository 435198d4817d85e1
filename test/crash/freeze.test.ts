import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type ExpectStatic, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { eventsOf, findViolations, processesOf } from './check.ts'
import { CrashHome, pause } from './home.ts'
import { type Acknowledged, create, marksOf } from './scenario.ts'
import { until, uptime } from './wait.ts'

/** Longer than the 15 s after which a worker counts as dead. A minute of it: npm run show:freeze */
const frozenMs = 1_000 * Number(process.env.FROZEN_SECONDS ?? 20)

/** Both wait out the same time side by side, each with a home of its own. */
describe.concurrent('a worker that is stopped while its agent keeps working', { timeout: 180_000 }, () => {
  test('and was declared dead by a second engine writes nothing more, leaves no agent, and the task runs again once', ({
    expect,
  }) => withTickingAgent((frozen) => replaced(frozen, expect)))
  test('and that nobody has missed confirms its beat, keeps its run and brings it to its end', ({ expect }) =>
    withTickingAgent((frozen) => missedByNobody(frozen, expect)))
})

interface Frozen {
  readonly home: CrashHome
  readonly task: Acknowledged
  readonly view: TaskView
  /** The run that was under way when the daemon was stopped. */
  readonly run: string
}

/** A daemon with one agent behind walls that leaves marks and prints until it finds the file `finish`. */
async function withTickingAgent(work: (frozen: Frozen) => Promise<void>): Promise<void> {
  const home = new CrashHome()
  try {
    await home.start()
    const task = await create(home, { kind: 'ticking', tag: 'freeze', walled: true })
    const view = await home.ask((client) => client.getTask(task.id))
    await until('the agent works', 20_000, () => marksOf(view).length > 1)
    await work({ home, task, view, run: marksOf(view)[0]!.run })
  } finally {
    home.killDaemon('SIGCONT')
    await home.close()
  }
}

async function replaced({ home, task, view, run }: Frozen, expect: ExpectStatic): Promise<void> {
  const second = await home.startWorker()
  const { pid } = home
  const { stoppedAt } = await freeze(home)
  const ofFrozen = marksOf(view).filter((mark) => mark.run === run)
  const ofSecond = marksOf(view).filter((mark) => mark.run !== run)
  expect(ofFrozen.at(-1)!.at - stoppedAt).toBeGreaterThan(10)
  expect(ofSecond.filter((mark) => mark.what === 'begin')).toHaveLength(1)
  expect(ofSecond[0]!.at).toBeGreaterThan(ofFrozen.at(-1)!.at)
  const before = await storedOf(home, run)

  home.killDaemon('SIGCONT')
  await until('the worker that was stopped has registered again', 20_000, () => home.log().includes('takes runs again'))
  expect(home.pid).toBe(pid)
  expect(processesOf([run])).toEqual([])
  expect(home.log()).toContain('"reason":"disowned"')

  await finish(home, task, view)
  // What the agent had printed meanwhile was there to be read by the worker that woke.
  expect(await storedOf(home, run)).toEqual(before)
  const { runs } = await home.ask((client) => client.getTask(task.id))
  expect(runs.map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded'])
  expect(await findViolations(home, [task], 'freeze')).toEqual([])
  const gone = once(second, 'exit')
  second.kill('SIGTERM')
  await gone
}

async function missedByNobody({ home, task, view, run }: Frozen, expect: ExpectStatic): Promise<void> {
  const { pid } = home
  const [beatBefore] = await beats(home)
  const { stoppedAt, wokenAt } = await freeze(home)
  const ticks = marksOf(view).filter((mark) => mark.what === 'tick' && mark.at > stoppedAt + 1 && mark.at < wokenAt - 1)
  expect(ticks.length).toBeGreaterThan(frozenMs / 1_000)

  home.killDaemon('SIGCONT')
  // One beat could have been on its way when the worker was stopped; the second is of the time after.
  await until('two beats were stored', 20_000, async () => (await beats(home))[0]! >= beatBefore! + 2)
  await finish(home, task, view)
  expect(home.pid).toBe(pid)
  const { runs } = await home.ask((client) => client.getTask(task.id))
  expect(runs).toMatchObject([{ id: run, outcome: 'succeeded' }])
  const said = (await eventsOf(home, task.id)).map((event) => JSON.stringify(event.data)).join('\n')
  // All that the agent printed while nobody read it is in the journal.
  expect(said.split(`tick of ${run}`).length - 1).toBe(marksOf(view).filter((mark) => mark.what === 'tick').length)
  expect(home.log()).not.toMatch(/"reason":"(self_fence|disowned|lease_lost|worker_lost)"/)
  expect(await findViolations(home, [task], 'freeze')).toEqual([])
}

/** Stops the daemon and answers `frozenMs` later, with the daemon still stopped. */
async function freeze(home: CrashHome): Promise<{ stoppedAt: number; wokenAt: number }> {
  const stoppedAt = uptime()
  home.killDaemon('SIGSTOP')
  await pause(frozenMs)
  return { stoppedAt, wokenAt: uptime() }
}

async function finish(home: CrashHome, task: Acknowledged, view: TaskView): Promise<void> {
  writeFileSync(join(view.workspace, 'finish'), '')
  await until('the task is completed', 30_000, async () => {
    const { state } = await home.ask((client) => client.getTask(task.id))
    return state === 'completed'
  })
}

/** Asked of the database itself: the daemon is stopped, or may not be believed. */
const storedOf = (home: CrashHome, run: string) =>
  home.query(`select seq, type, data from pawl.events where run_id = '${run}' order by seq`)

const beats = async (home: CrashHome) =>
  (await home.query<{ beat: string }>('select beat from pawl.workers order by id')).map(({ beat }) => Number(beat))
