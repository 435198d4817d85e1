import { expect, it } from 'vitest'
import { accountOf } from '../../../src/domain/agent/account.ts'
import { createAudit } from '../../../src/engine/auth/audit.ts'
import { limitVerbs } from '../../../src/operations/limits.ts'
import { taskView } from '../../../src/operations/tasks/views.ts'
import { dueTasks } from '../../../src/store/cooldowns.ts'
import { runsOfTask } from '../../../src/store/runs.ts'
import { whatTheyWaitFor } from '../../../src/store/waiting.ts'
import { agentWith, hour, makeWorld, minute, usageLimit } from './world.ts'

const verbsOf = (world: Awaited<ReturnType<typeof makeWorld>>) => {
  const { db, journal, bus, clock, log } = world
  const audit = createAudit({ db, clock, log })
  const getTask = async (id: string) => taskView(await world.task(id), await runsOfTask(db, id), [])
  return { audit, ...limitVerbs({ db, journal, bus, clock, audit }, getTask) }
}

/** Ten tasks that wait for the end of a limit. */
async function waitingWorld() {
  const world = await makeWorld()
  let isLimited = true
  world.provide('claude', (nowMs) => (isLimited ? usageLimit(nowMs + 5 * hour) : undefined))
  const ids: string[] = []
  for (let n = 0; n < 10; n++) ids.push(await world.add(agentWith('claude')))
  await world.pass(2 * minute)
  const free = () => {
    isLimited = false
  }
  return { world, ids, free, ...verbsOf(world) }
}
const by = { by: 'test' }

it('says which accounts are at a limit, until when, why, and how many wait', async () => {
  const { world, listLimits } = await waitingWorld()
  expect(await listLimits()).toMatchObject([
    {
      account: accountOf(agentWith('claude')),
      agents: ['claude'],
      kind: 'usage_limit',
      why: "You've hit your limit.",
      times: 1,
      waiting: 10,
      checking: false,
    },
  ])
  await world.stop()
}, 60_000)

it('a limit that somebody takes back is forgotten, with who did it; the first that meets it again stops the rest', async () => {
  const { world, clearLimits, listLimits, audit } = await waitingWorld()
  await expect(clearLimits('codex', by)).rejects.toMatchObject({ code: 'not_found' })
  const before = world.starts.length
  expect(await clearLimits('claude', by)).toMatchObject([{ agents: ['claude'], waiting: 10 }])
  await world.pass(2 * minute)
  expect((await audit.list({ limit: 5 })).items).toMatchObject([{ action: 'limits.clear', subject: 'claude' }])
  expect((await world.tasks()).every((task) => task.state === 'parked')).toBe(true)
  expect(world.starts.length - before).toBeLessThan(10)
  expect(await listLimits()).toHaveLength(1)
  await world.stop()
}, 60_000)

it('a parked task that is woken tries at once whether the limit is over, and the others follow if it is', async () => {
  const { world, ids, free, resumeTask } = await waitingWorld()
  const before = world.starts.length
  // Whoever admits may be quicker than the answer.
  expect((await resumeTask(ids[3]!, by)).state).toMatch(/^(queued|running)$/)
  await world.pass(2 * minute)
  // It was not: everybody waits on.
  expect(world.starts.slice(before).map((start) => start.task)).toEqual([ids[3]])
  expect((await world.tasks()).every((task) => task.state === 'parked')).toBe(true)
  free()
  await resumeTask(ids[4]!, by)
  // Long before the time that the provider had named.
  await world.pass(hour)
  expect((await world.tasks()).every((task) => task.state === 'completed')).toBe(true)
  await expect(resumeTask(ids[4]!, by)).rejects.toMatchObject({ code: 'conflict' })
  await world.stop()
}, 60_000)

it('a task that is queued while its account is being tried says what it waits for', async () => {
  const { world, ids, resumeTask } = await waitingWorld()
  await resumeTask(ids[0]!, by)
  await world.pass(1)
  const late = await world.add(agentWith('claude'))
  const [waits] = await whatTheyWaitFor(world.db, [await world.task(late)], undefined, new Date(world.clock.now()))
  expect(waits).toEqual({
    kind: 'cooldown',
    detail: 'the account of claude was at its limit; another task is trying whether that is over',
  })
  await world.stop()
}, 60_000)

it('a process that runs only its own tasks wakes no others, and is not held up by those that nobody runs', async () => {
  const { world, ids } = await waitingWorld()
  const { db, clock } = world
  await world.stop()
  const own = { worker: world.worker, shared: false }
  const later = new Date(clock.now() + 6 * hour)
  // Another process has woken a task that it does not run.
  await db.updateTable('pawl.tasks').set({ state: 'queued', resume_at: null }).where('id', '=', ids[0]!).execute()
  await db.updateTable('pawl.tasks').set({ bound_to: world.worker }).where('id', '=', ids[1]!).execute()
  const due = await db.transaction().execute((tx) => dueTasks(tx, later, own))
  expect(due.map(({ id }) => id)).toEqual([ids[1]])
  expect(await db.transaction().execute((tx) => dueTasks(tx, later, { ...own, shared: true }))).toEqual([])
}, 60_000)
