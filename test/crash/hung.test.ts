import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type ExpectStatic, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { findViolations } from './check.ts'
import { CrashHome } from './home.ts'
import { type Acknowledged, create, marksOf } from './scenario.ts'
import { until } from './wait.ts'

/** Each with a home of its own: most of their time is waiting. */
describe.concurrent('a daemon whose main thread is held up', { timeout: 240_000 }, () => {
  test('for longer than a lease lasts keeps its runs, although another engine looks', ({ expect }) =>
    withHeldUp(20, (heldUp) => keeps(heldUp, expect)))
  test('for so long that it must be hung ends, and another engine takes its task up', ({ expect }) =>
    withHeldUp(90, (heldUp) => ends(heldUp, expect)))
})

interface HeldUp {
  readonly home: CrashHome
  readonly task: Acknowledged
  readonly view: TaskView
  readonly run: string
}

/** A daemon that stands still once, for so many seconds, after its third beat; by then a second engine is there, and an agent that leaves marks until it finds the file `finish`. */
async function withHeldUp(seconds: number, work: (heldUp: HeldUp) => Promise<void>): Promise<void> {
  const home = new CrashHome()
  try {
    home.environment.PAWL_FAILPOINT = `heartbeat.after=block${seconds}:2`
    await home.start()
    delete home.environment.PAWL_FAILPOINT
    const task = await create(home, { kind: 'ticking', tag: 'hung', walled: true })
    const view = await home.ask((client) => client.getTask(task.id))
    await until('the agent works', 20_000, () => marksOf(view).length > 1)
    const second = await home.startWorker()
    try {
      await work({ home, task, view, run: marksOf(view)[0]!.run })
    } finally {
      const gone = once(second, 'exit')
      second.kill('SIGTERM')
      await gone
    }
  } finally {
    await home.close()
  }
}

async function keeps({ home, task, view, run }: HeldUp, expect: ExpectStatic): Promise<void> {
  const { pid } = home
  await untilHeldUp(home)
  await finish(home, task, view, 60_000)
  expect(home.pid).toBe(pid)
  const { runs } = await home.ask((client) => client.getTask(task.id))
  expect(runs).toMatchObject([{ id: run, outcome: 'succeeded' }])
  expect(home.log()).not.toMatch(/"reason":"(self_fence|disowned|lease_lost|worker_lost|main_thread_hung)"/)
  expect(await findViolations(home, [task], 'hung')).toEqual([])
}

async function ends({ home, task, view, run }: HeldUp, expect: ExpectStatic): Promise<void> {
  home.startsAgain = false
  await home.gone()
  expect(home.log()).toContain('"reason":"main_thread_hung"')
  await until('the second engine works on it', 30_000, () => marksOf(view).some((mark) => mark.run !== run))
  home.startsAgain = true
  await home.start()
  await finish(home, task, view, 60_000)
  const { runs } = await home.ask((client) => client.getTask(task.id))
  expect(runs.map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded'])
  expect(await findViolations(home, [task], 'hung')).toEqual([])
}

/** The daemon answers nobody. */
async function untilHeldUp(home: CrashHome): Promise<void> {
  const client = await home.client()
  await until('the daemon answers nobody', 60_000, async () => {
    const answers = client.health().then(() => true)
    return !(await Promise.race([answers, new Promise<boolean>((late) => setTimeout(late, 4_000, false))]))
  })
}

async function finish(home: CrashHome, task: Acknowledged, view: TaskView, withinMs: number): Promise<void> {
  writeFileSync(join(view.workspace, 'finish'), '')
  await until('the task is completed', withinMs, async () => {
    const { state } = await home.ask((client) => client.getTask(task.id), withinMs)
    return state === 'completed'
  })
}
