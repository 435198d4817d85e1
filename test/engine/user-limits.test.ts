import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  const config = await loadTestConfig(home.path)
  const server = { ...config.server, workspaces: [join(home.path, 'shared')] }
  daemon = await startEngine(home.path, { config: { ...config, server, limits: { ...config.limits, perAgent: {}, running: 3 } } })
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const local = { by: 'test' }
const of = (user: string) => ({ by: user, user, standing: 'admin' as const })
const add = async (user: string, command: string, key?: string) =>
  (
    await daemon.runtime.createTask(
      { prompt: 'x', agentConfig: commandAgent(['/bin/sh', '-c', command], { name: command }) },
      { ...of(user), idempotencyKey: key },
    )
  ).task.id
const state = async (id: string) => (await daemon.runtime.getTask(id)).state

it('a user has no more running than their slots, and stands in nobody’s way with the rest', async () => {
  await daemon.entrance.createUser({ name: 'anna', slots: 1 }, local)
  const annas = [await add('anna', 'sleep 1000'), await add('anna', 'sleep 1000'), await add('anna', 'true')]
  const bobs = [await add('local', 'sleep 999'), await add('local', 'sleep 999')]
  await until(async () => (await Promise.all([annas[0]!, ...bobs].map(state))).every((each) => each === 'running'))
  expect(await Promise.all(annas.map(state))).toEqual(['running', 'queued', 'queued'])
  expect((await daemon.runtime.getTask(annas[1]!)).reason).toEqual({ kind: 'user_slots', detail: 'anna' })
  // Two more slots for her, one of which is free.
  await daemon.runtime.cancelTask(bobs[0]!, { ...local, now: true })
  await until(async () => (await state(bobs[0]!)) === 'cancelled')
  expect(await state(annas[1]!)).toBe('queued')
  await daemon.entrance.setUser('anna', { slots: null }, local)
  await until(async () => (await state(annas[1]!)) === 'running')
  for (const id of [...annas, ...bobs]) await daemon.runtime.cancelTask(id, { ...local, now: true })
  for (const id of [...annas, ...bobs]) await eventsUntil(daemon, id, isResting)
}, 60_000)

it('a user asks for no more tasks a day than their limit, however many ask at once; the same request twice counts once', async () => {
  await daemon.entrance.createUser({ name: 'cleo', dailyTasks: 5 }, local)
  const first = await add('cleo', 'true', 'same')
  expect(await add('cleo', 'true', 'same')).toBe(first)
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => add('cleo', 'true')))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  for (const reason of refused)
    expect(reason).toMatchObject({
      code: 'limited',
      message:
        'The user "cleo" has asked for 5 tasks today, as many as their daily limit allows; it begins anew at midnight UTC.',
      details: { retryAfterSeconds: expect.any(Number) },
    })
  expect(await add('cleo', 'true', 'same')).toBe(first)
  expect((await daemon.entrance.listUsers()).find(({ name }) => name === 'cleo')).toMatchObject({ dailyTasks: 5, tasksToday: 5 })
  await daemon.entrance.setUser('cleo', { dailyTasks: 0 }, local)
  await expect(add('cleo', 'true')).rejects.toMatchObject({ code: 'limited' })
})

it('what an agent splits off counts as a task of its user', async () => {
  await daemon.entrance.createUser({ name: 'nora', dailyTasks: 2 }, local)
  const post = (prompt: string) =>
    `curl -s -H "authorization: Bearer $PAWL_API_TOKEN" -d '${JSON.stringify({ prompt })}' "$PAWL_API_URL/v1/subtasks"`
  const script = `case "$(cat)" in x) ${post('one')}; ${post('two')} ;; *) echo done ;; esac`
  const agentConfig = commandAgent(['/bin/sh', '-c', script], { profile: 'unattended-open' })
  const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig, skipPlanning: true }, of('nora'))
  await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
  const [first] = (await daemon.runtime.readEvents(task.id, { after: 0, limit: 500 })).filter(
    ({ type }) => type === 'agent.message',
  )
  expect(first?.data).toMatchObject({ text: expect.stringContaining('has asked for 2 tasks today') })
  expect((await daemon.runtime.getTask(task.id)).subtasks).toHaveLength(1)
  expect((await daemon.entrance.listUsers()).find(({ name }) => name === 'nora')).toMatchObject({ tasksToday: 2 })
  await expect(add('nora', 'true')).rejects.toMatchObject({ code: 'limited' })
})

it('a whole agent of one’s own may be brought along by an admin only, and a hook chooses nothing of the machine', async () => {
  const agentConfig = commandAgent(['true'])
  const ask = (standing: 'operator' | 'hook', task: object) =>
    daemon.runtime.createTask({ prompt: 'x', agent: 'demo', ...task }, { by: 'x', user: 'local', standing })
  await expect(ask('operator', { agentConfig })).rejects.toMatchObject({ code: 'denied' })
  await expect(
    daemon.runtime.adoptSession({ vendorId: 'x', workspace: '/tmp', agentConfig }, { by: 'x', standing: 'operator' }),
  ).rejects.toMatchObject({
    code: 'denied',
  })
  for (const task of [
    { agentConfig },
    { profile: 'unattended-open' },
    { extraArgs: ['-x'] },
    { workspace: '/tmp' },
    { attended: true },
  ])
    await expect(ask('hook', task), JSON.stringify(task)).rejects.toMatchObject({ code: 'denied' })
  for (const task of [{ extraArgs: ['-x'] }, { attended: true }])
    await expect(ask('operator', task), JSON.stringify(task)).rejects.toMatchObject({ code: 'denied' })
  for (const standing of ['operator', 'hook'] as const) {
    const { task } = await ask(standing, {})
    await daemon.runtime.cancelTask(task.id, { ...local, now: true })
  }
})

/** Asked for and taken back. */
async function made(standing: 'operator' | 'hook', task: object, user = 'local', idempotencyKey?: string) {
  const asked = { prompt: 'x', agent: 'demo', ...task }
  const { task: one } = await daemon.runtime.createTask(asked, { by: 'x', user, standing, idempotencyKey })
  await daemon.runtime.cancelTask(one.id, { ...local, now: true })
  return one
}

it('an operator may choose a narrower profile than the agent’s own, never a wider one', async () => {
  await made('operator', { profile: 'strict' })
  await made('operator', { profile: 'guarded' })
  for (const profile of ['unattended-open', 'trusted-repo'])
    await expect(made('operator', { profile })).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining(`may not choose the profile "${profile}": it allows more than the agent's own, "guarded"`),
    })
})

it('only admins have agents work anywhere; others in folders that the settings share, and are not told what else there is', async () => {
  const shared = join(home.path, 'shared')
  await mkdir(join(shared, 'project'), { recursive: true })
  await mkdir(join(home.path, 'shared-not'))
  await symlink('/etc', join(shared, 'link'))
  for (const workspace of [shared, join(shared, 'project'), `${shared}/project/../`])
    expect(await made('operator', { workspace })).toMatchObject({ workspace: expect.stringContaining(shared) })
  for (const workspace of [
    '/',
    '/etc',
    join(home.path, 'shared-not'),
    join(shared, 'link'),
    join(shared, '..'),
    '/no/such/folder',
  ])
    await expect(made('operator', { workspace }), workspace).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining(`may not have an agent work in ${workspace}:`),
    })
  const adoption = { vendorId: '0b4c8a6e-0000-4000-8000-000000000000', agent: 'demo', workspace: '/etc' }
  await expect(daemon.runtime.adoptSession(adoption, { by: 'x', standing: 'operator' })).rejects.toMatchObject({ code: 'denied' })

  const { task } = await daemon.runtime.createTask({ prompt: 'x', agent: 'demo', workspace: '/tmp' }, local)
  await daemon.runtime.cancelTask(task.id, { ...local, now: true })
  await expect(made('operator', { session: task.session })).rejects.toMatchObject({ code: 'denied' })
})

it('a hook goes on with the conversations of its own user alone, and nobody is handed another’s task by its key', async () => {
  for (const name of ['dora', 'emil']) await daemon.entrance.createUser({ name }, local)
  const doras = await made('hook', {}, 'dora', 'first')
  expect(await made('hook', {}, 'dora', 'first')).toMatchObject({ id: doras.id })
  expect((await made('hook', {}, 'emil', 'first')).id).not.toBe(doras.id)
  expect((await made('hook', { session: doras.session }, 'dora')).session).toBe(doras.session)
  await expect(made('hook', { session: doras.session }, 'emil')).rejects.toMatchObject({ code: 'denied' })
  expect((await made('operator', { session: doras.session }, 'emil')).session).toBe(doras.session)
})
