import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TestClock } from 'pg-boss'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'
import { HandClock } from './test-clock.ts'

const minute = 60_000
const hour = 60 * minute

describe('time', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let clock: HandClock
  let queueClock: TestClock
  let daemon: Daemon

  beforeAll(async () => {
    home = await makeHome()
    clock = new HandClock()
    queueClock = new TestClock(clock.now())
    daemon = await startEngine(home.path, { clock, queueClock })
  })
  afterAll(async () => {
    await daemon.stop()
    await home.remove()
  })

  /** An agent that lives until a file of its workspace appears. */
  const patient = () =>
    commandAgent(['/bin/sh', '-c', 'touch started; while [ ! -e finish ]; do sleep 0.05; done; echo done'], {
      timeoutMs: null,
      idleTimeoutMs: null,
    })
  const start = async (agent = patient()) => {
    const { task } = await daemon.runtime.createTask({ prompt: 'wait', agentConfig: agent }, { by: 'test' })
    await until(() => existsSync(join(task.workspace, 'started')))
    return task
  }
  const finish = async (task: { id: string; workspace: string }) => {
    await writeFile(join(task.workspace, 'finish'), '')
    return eventsUntil(daemon, task.id, isResting)
  }
  /** Time passes for us and for the queue, in steps, and what that wakes gets a moment to act. */
  const pass = async (ms: number, stepMs: number) => {
    for (let gone = 0; gone < ms; gone += stepMs) {
      clock.sleep(stepMs)
      await queueClock.setTime(clock.now())
      await queueClock.tick(1)
      await new Promise((done) => setTimeout(done, 5))
      // As long as the database takes for a question: on a busy machine a moment is longer.
      await daemon.runtime.ready()
    }
  }

  it('a run of 16 minutes is started once', async () => {
    const task = await start()
    await pass(16 * minute, 10_000)
    const events = await finish(task)
    expect(events.filter((event) => event.type === 'run.started')).toHaveLength(1)
    expect(events.at(-1)?.type).toBe('task.completed')
  })

  it('a run of 30 hours is started once', async () => {
    const task = await start()
    await pass(30 * hour, 10 * minute)
    const events = await finish(task)
    expect(events.filter((event) => event.type === 'run.started')).toHaveLength(1)
    expect(events.at(-1)?.type).toBe('task.completed')
  })

  it.each([
    ['forward', hour],
    ['backward', -hour],
  ])('a clock that jumps %s by an hour changes no outcome', async (_, jump) => {
    const before = await start()
    clock.jump(jump)
    await queueClock.setTime(clock.now())
    await pass(10_000, 1_000)
    const after = await start()
    await pass(20_000, 1_000)
    for (const task of [before, after]) {
      const events = await finish(task)
      expect(events.map((event) => event.type).filter((type) => !/^(agent|workspace)\./.test(type))).toEqual([
        'task.queued',
        'run.admitted',
        'run.started',
        'run.ended',
        'task.completed',
      ])
    }
    clock.jump(-jump)
    await queueClock.setTime(clock.now())
  })

  it('an agent that crashes is tried once more, and then the task fails with the reason', async () => {
    const flaky = commandAgent(['/bin/sh', '-c', 'kill -9 $$'], {
      retry: { attempts: 2, baseDelayMs: 5_000, maxDelayMs: 60_000 },
    })
    const { task } = await daemon.runtime.createTask({ prompt: 'crash', agentConfig: flaky }, { by: 'test' })
    const events = await eventsUntil(daemon, task.id, isResting)
    expect(events.filter((event) => event.type === 'run.ended').map((event) => event.data)).toMatchObject([
      { outcome: 'failed', category: 'crashed' },
      { outcome: 'failed', category: 'crashed' },
    ])
    expect(events.find((event) => event.type === 'task.requeued')?.data).toMatchObject({ why: 'retry' })
    expect(events.at(-1)).toMatchObject({ type: 'task.failed', data: { category: 'crashed' } })
  })

  it('a run that exceeds its time is stopped and keeps what it said', async () => {
    const slow = commandAgent(['/bin/sh', '-c', 'echo so far; touch started; sleep 1000'], {
      timeoutMs: 60_000,
      idleTimeoutMs: null,
      graceMs: 0,
    })
    const task = await start(slow)
    await until(async () =>
      (await daemon.runtime.readEvents(task.id, { after: 0, limit: 100 })).some((event) => event.type === 'agent.message'),
    )
    await pass(61_000, 2_000)
    const events = await eventsUntil(daemon, task.id, isResting)
    expect(events.at(-1)).toMatchObject({ type: 'task.timed_out', data: { category: 'total_timeout' } })
    expect((await daemon.runtime.getTask(task.id)).result).toMatchObject({ outcome: 'timed_out', text: 'so far' })
  })

  it('a time limit of 0 that is said outright means none', async () => {
    const { task } = await daemon.runtime.createTask(
      { prompt: 'wait', agentConfig: { ...patient(), timeoutMs: 5_000 }, timeoutMs: 0 },
      { by: 'test' },
    )
    await until(() => existsSync(join(task.workspace, 'started')))
    await pass(20_000, 2_000)
    expect((await finish(task)).at(-1)?.type).toBe('task.completed')
  })

  it('an agent that falls silent is stopped, however many bytes it drips', async () => {
    const silent = commandAgent(['/bin/sh', '-c', 'touch started; while :; do printf .; sleep 0.2; done'], {
      timeoutMs: null,
      idleTimeoutMs: 30_000,
      graceMs: 0,
      retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    })
    const task = await start(silent)
    await pass(31_000, 2_000)
    const events = await eventsUntil(daemon, task.id, isResting)
    expect(events.at(-1)).toMatchObject({ type: 'task.timed_out', data: { category: 'idle_timeout' } })
  })
})
