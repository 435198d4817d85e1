import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { NewSchedule } from '../../src/domain/schedule/schedule.ts'
import { commandAgent, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const open = (command: string, name = 'helper') => commandAgent(['/bin/sh', '-c', command], { name, profile: 'unattended-open' })
const schedule = (given: Partial<NewSchedule> & Pick<NewSchedule, 'task'>): NewSchedule => ({
  ...{ when: { kind: 'every', everyMs: 1_000 }, session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
  ...given,
})
const ended = (named: string, count: number) =>
  until(async () => {
    const found = await daemon.runtime.getSchedule(named)
    return found.ticks.filter(({ endedAt, state }) => endedAt !== null && state !== 'skipped').length >= count && found
  })

it('an agent that works every second does so, each time in a task of its own', async () => {
  await daemon.runtime.createSchedule(schedule({ name: 'good', task: { prompt: 'hello', agentConfig: open('cat') } }), {
    by: 'test',
  })
  const { ticks, health } = await ended('good', 3)
  expect(health.healthy).toBe(true)
  const made = ticks.filter(({ state }) => state === 'succeeded').map(({ task }) => task)
  expect(new Set(made).size).toBe(made.length)
  const task = await daemon.runtime.getTask(made[0]!)
  expect([task.prompt, task.result?.text]).toEqual(['hello', 'hello'])
  await daemon.runtime.removeSchedule('good', { by: 'test' })
})

it('an agent whose conversation is gone fails its tick visibly: in the list, in the health of the daemon, at the first time', async () => {
  const dead = open('echo "No conversation found with session ID 1234" >&2; exit 1')
  const task = { prompt: 'go on', agentConfig: dead }
  await daemon.runtime.createSchedule(schedule({ name: 'dead', when: { kind: 'initial' }, session: 'keep', task }), {
    by: 'test',
  })
  await ended('dead', 1)
  const [listed] = (await daemon.runtime.listSchedules()).filter(({ name }) => name === 'dead')
  expect(listed).toMatchObject({ lastTick: { state: 'failed' }, health: { healthy: false, failedInARow: 1 } })
  const { schedules } = await daemon.runtime.health()
  expect(schedules.unhealthy).toEqual([
    {
      id: listed!.id,
      name: 'dead',
      failedInARow: 1,
      detail: expect.stringContaining('No conversation found with session ID 1234'),
    },
  ])
  await daemon.runtime.removeSchedule('dead', { by: 'test' })
  expect((await daemon.runtime.health()).schedules.unhealthy).toEqual([])
})

it('what could not be asked for as a task cannot be scheduled either', async () => {
  const create = (task: NewSchedule['task']) => daemon.runtime.createSchedule(schedule({ task }), { by: 'test' })
  await expect(create({ prompt: 'x', agent: 'nobody' })).rejects.toThrow(/no agent "nobody"/)
  await expect(create({ prompt: 'x', agent: 'demo', workspace: '/nowhere/at/all' })).rejects.toThrow(/nowhere/)
  await expect(create({ prompt: 'x', agent: 'demo', session: 's_0123456789abcdefgh' })).rejects.toThrow(/no session/)
  expect(await daemon.runtime.listSchedules()).toEqual([])
})

it('somebody who may not choose a whole agent may not change the schedule of somebody who may', async () => {
  const own = { by: 'olga', user: 'olga', standing: 'operator' } as const
  const made = await daemon.runtime.createSchedule(
    schedule({ when: { kind: 'every', everyMs: 86_400_000 }, task: { prompt: 'x', agentConfig: open('true') } }),
    { by: 'test' },
  )
  await expect(daemon.runtime.changeSchedule(made.id, { task: { prompt: 'read the keys' } }, own)).rejects.toThrow(
    /may not choose "agentConfig"/,
  )
  expect((await daemon.runtime.getSchedule(made.id)).prompt).toBe('x')
  await daemon.runtime.removeSchedule(made.id, { by: 'test' })
})

it('every act upon a schedule is in the audit', async () => {
  const when = { kind: 'every', everyMs: 86_400_000 } as const
  const { id } = await daemon.runtime.createSchedule(schedule({ when, task: { prompt: 'x', agent: 'demo' } }), { by: 'test' })
  await daemon.runtime.pauseSchedule(id, { by: 'test' })
  await daemon.runtime.resumeSchedule(id, { by: 'test' })
  await daemon.runtime.changeSchedule(id, { overlap: 'queue' }, { by: 'test' })
  await daemon.runtime.runSchedule(id, { by: 'test' })
  await daemon.runtime.removeSchedule(id, { by: 'test' })
  const { items } = await daemon.audit.list({ limit: 100 })
  expect(items.filter(({ subject }) => subject === id).map(({ action }) => action)).toEqual(
    ['remove', 'run', 'change', 'resume', 'pause', 'create'].map((act) => `schedule.${act}`),
  )
  expect(items.filter(({ action, via }) => action === 'task.create' && via === id)).toHaveLength(1)
})

it('a one-shot beside the daemon fires nothing', async () => {
  const other = await makeHome()
  const oneShot = await startEngine(other.path, { serveShared: false })
  try {
    const { id } = await oneShot.runtime.createSchedule(
      schedule({ when: { kind: 'initial' }, task: { prompt: 'x', agent: 'demo' } }),
      { by: 'test' },
    )
    await new Promise((done) => setTimeout(done, 600))
    expect((await oneShot.runtime.getSchedule(id)).ticks).toEqual([])
    await oneShot.stop()
    const served = await startEngine(other.path)
    try {
      await until(async () => (await served.runtime.getSchedule(id)).ticks.length === 1)
    } finally {
      await served.stop()
    }
  } finally {
    await oneShot.stop()
    await other.remove()
  }
})
