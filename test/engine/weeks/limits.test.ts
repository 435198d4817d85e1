import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { accountOf } from '../../../src/domain/agent/account.ts'
import { agentWith, day, hour, makeWorld, minute, overload, second, usageLimit } from './world.ts'

const count = (list: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(list, (one) => one)].map(([key, all]) => [key, all.length]))

it('a limit that one run meets parks all tasks of the account until the reset, and nobody of another account', async () => {
  const world = await makeWorld({ running: 2 })
  const [claude, same, other] = [agentWith('claude'), agentWith('claude-fast', 'claude'), agentWith('codex')]
  const resetMs = world.clock.now() + 5 * hour
  for (const name of ['claude', 'claude-fast'])
    world.provide(name, (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  const mine = [await world.add(claude), await world.add(claude), await world.add(same), await world.add(same)]
  const theirs = [await world.add(other), await world.add(other)]
  await world.pass(hour)
  expect((await world.task(theirs[0]!)).state).toBe('completed')
  expect((await world.task(theirs[1]!)).state).toBe('completed')
  for (const id of mine)
    expect(await world.task(id)).toMatchObject({
      state: 'parked',
      reason: { kind: 'usage_limit', detail: "You've hit your limit." },
      resume_at: new Date(resetMs),
    })
  const met = world.starts.filter((start) => mine.includes(start.task)).length
  expect(met).toBeGreaterThan(0)
  expect(met).toBeLessThanOrEqual(2)
  expect(await world.cooldowns()).toMatchObject([{ account: accountOf(claude), kind: 'usage_limit', until: new Date(resetMs) }])
  // Asked for while the account is at its limit: it does not even start.
  const late = await world.add(same)
  await world.pass(minute)
  expect(await world.task(late)).toMatchObject({ state: 'parked', resume_at: new Date(resetMs), fence: 0 })
  await world.pass(5 * hour)
  for (const id of [...mine, late]) expect((await world.task(id)).state).toBe('completed')
  expect(await world.cooldowns()).toEqual([])
  await world.stop()
}, 120_000)

it('of 200 parked tasks one goes first after the reset, the others come apart from each other when it has worked, each wakes once', async () => {
  const world = await makeWorld({ running: 50 })
  const agent = agentWith('claude')
  const resetMs = world.clock.now() + 5 * hour
  world.provide('claude', (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  const ids: string[] = []
  for (let n = 0; n < 200; n++) ids.push(await world.add(agent))
  await world.pass(hour)
  expect(count((await world.tasks()).map((task) => task.state))).toEqual({ parked: 200 })
  const before = world.starts.length
  expect(before).toBe(50)

  world.runsTake(10 * second)
  await world.pass(4 * hour + hour)
  expect(count((await world.tasks()).map((task) => task.state))).toEqual({ completed: 200 })
  const woken = world.starts.slice(before)
  expect(woken).toHaveLength(200)
  const [first, ...others] = woken.map((start) => start.atMs - resetMs)
  expect(first).toBeLessThan(minute)
  // Nobody else before the first has come to its end.
  expect(Math.min(...others)).toBeGreaterThanOrEqual(first! + 10 * second)
  const perSecond = Object.values(count(others.map((ms) => String(Math.floor(ms / second)))))
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(2)
  for (const id of ids) {
    const wakes = (await world.eventsOf(id)).filter((event) => event.type === 'task.requeued' && event.data.why === 'wake')
    expect(wakes, id).toHaveLength(1)
  }
  await world.stop()
}, 240_000)

it('if the first one meets the limit again, all wait on without having been started', async () => {
  const world = await makeWorld({ running: 20 })
  const agent = agentWith('claude')
  const [resetMs, secondMs] = [world.clock.now() + 5 * hour, world.clock.now() + 10 * hour]
  world.provide('claude', (nowMs) =>
    nowMs < resetMs ? usageLimit(resetMs) : nowMs < secondMs ? usageLimit(secondMs) : undefined,
  )
  for (let n = 0; n < 40; n++) await world.add(agent)
  await world.pass(hour)
  expect(world.starts).toHaveLength(20)
  await world.pass(5 * hour)
  expect(world.starts).toHaveLength(21)
  for (const task of await world.tasks())
    expect(task).toMatchObject({ state: 'parked', reason: { kind: 'usage_limit' }, resume_at: new Date(secondMs) })
  expect(await world.cooldowns()).toMatchObject([{ step: 2 }])
  await world.pass(5 * hour)
  expect(count((await world.tasks()).map((task) => task.state))).toEqual({ completed: 40 })
  await world.stop()
}, 120_000)

it('five weeks of limits on two accounts: every task ends, and nobody runs while its account is at its limit', async () => {
  const world = await makeWorld({ running: 6 })
  const begin = world.clock.now()
  // Each account serves the first hour of every window, and is at its limit for the rest.
  const windows = { claude: 5 * hour, codex: 7 * day }
  for (const [name, windowMs] of Object.entries(windows))
    world.provide(name, (nowMs) => {
      const intoMs = (nowMs - begin) % windowMs
      return intoMs < hour ? undefined : usageLimit(nowMs - intoMs + windowMs)
    })
  world.runsTake(20 * minute)
  for (let n = 0; n < 60; n++) await world.add(agentWith(n % 2 === 0 ? 'claude' : 'codex'))
  await world.pass(35 * day, day)
  const tasks = await world.tasks()
  expect(count(tasks.map((task) => task.state))).toEqual({ completed: 60 })
  const refused = await world.db
    .selectFrom('pawl.runs')
    .select(['agent', 'admitted_at'])
    .where('category', '=', 'usage_limit')
    .execute()
  // Per window no more than were under way when it closed.
  for (const [name, windowMs] of Object.entries(windows)) {
    const perWindow = count(
      refused
        .filter((run) => run.agent === name)
        .map((run) => String(Math.floor((run.admitted_at.getTime() - begin) / windowMs))),
    )
    for (const [window, times] of Object.entries(perWindow)) expect(times, `${name} ${window}`).toBeLessThanOrEqual(6)
  }
  await world.stop()
}, 240_000)

it('an overloaded provider is asked by one task at a time, less and less often, and by all when it answers', async () => {
  const world = await makeWorld({ running: 10 })
  const agent = agentWith('claude', 'claude', { retry: { attempts: 50, baseDelayMs: 5_000, maxDelayMs: 600_000 } })
  const fromMs = world.clock.now()
  world.provide('claude', (nowMs) => (nowMs - fromMs < 2 * hour ? overload : undefined))
  world.runsTake(second)
  for (let n = 0; n < 30; n++) await world.add(agent)
  await world.pass(2 * hour, 10 * minute)
  const [burst, tries] = [world.starts.slice(0, 10), world.starts.slice(10)]
  expect(new Set(burst.map((start) => start.atMs - fromMs))).toEqual(new Set([0]))
  const gaps = tries.map((start, index) => start.atMs - (tries[index - 1] ?? burst[0]!).atMs)
  // 5 s, 10 s, 20 s … 10 min.
  expect(gaps[0]!).toBeLessThan(10 * second)
  expect(gaps.at(-1)!).toBeGreaterThanOrEqual(10 * minute)
  expect(tries.length).toBeLessThan(25)
  await world.pass(hour)
  expect(count((await world.tasks()).map((task) => task.state))).toEqual({ completed: 30 })
  await world.stop()
}, 120_000)

it('a task that has waited for as many windows as it may fails, and says so', async () => {
  const world = await makeWorld({ usageWindows: 3 })
  world.provide('claude', (nowMs) => usageLimit(nowMs + 5 * hour))
  const id = await world.add(agentWith('claude'))
  await world.pass(3 * day)
  expect(await world.task(id)).toMatchObject({
    state: 'failed',
    attempts: 1,
    reason: {
      kind: 'usage_limit',
      detail:
        "It has waited 3 times in a row for the limit of its account to end, as often as limits.usageWindows allows: You've hit your limit.",
    },
  })
  await world.stop()
}, 60_000)

it.each([
  ['forward', 9 * hour],
  ['backward', -9 * hour],
])(
  'a clock that jumps %s by hours while tasks are parked changes no outcome, and each wakes once a window',
  async (_, jump) => {
    const world = await makeWorld({ running: 4 })
    const [limited, busy] = [
      agentWith('claude'),
      agentWith('codex', 'codex', { retry: { attempts: 50, baseDelayMs: 5_000, maxDelayMs: 600_000 } }),
    ]
    // What the providers know goes by true time.
    const from = world.clock.monotonic()
    const resetMs = world.clock.now() + 5 * hour
    world.provide('claude', () => (world.clock.monotonic() - from < 5 * hour ? usageLimit(resetMs) : undefined))
    world.provide('codex', () => (world.clock.monotonic() - from < 2 * hour ? overload : undefined))
    for (let n = 0; n < 8; n++) await world.add(n % 2 === 0 ? limited : busy)
    await world.pass(hour, 10 * minute)
    world.clock.jump(jump)
    await world.pass(4 * hour, 10 * minute)
    // An overload is waited for as long as it lasts, whatever the clock says.
    for (const task of await world.tasks()) if (task.agent === 'codex') expect(task.state).toBe('completed')
    world.clock.jump(-jump)
    await world.pass(6 * hour, 10 * minute)
    expect(count((await world.tasks()).map((task) => task.state))).toEqual({ completed: 8 })
    for (const task of await world.tasks()) {
      const types = (await world.eventsOf(task.id)).map((event) => event.type)
      expect(types.filter((type) => type === 'task.completed')).toHaveLength(1)
      const runs = types.filter((type) => type === 'run.admitted').length
      const ends = types.filter((type) => type === 'run.ended').length
      expect(runs).toBe(ends)
    }
    await world.stop()
  },
  120_000,
)

it('an account is free as soon as the first run of it is served, and not only when that has ended', async () => {
  const world = await makeWorld()
  const resetMs = world.clock.now() + 5 * hour
  world.provide('claude', (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  const ids = []
  for (let n = 0; n < 3; n++) ids.push(await world.add(agentWith('claude')))
  await world.pass(2 * minute)
  world.runsTake(9 * hour)
  await world.pass(5 * hour)
  const { run } = world.live[0]!
  const waiting = ids.filter((id) => id !== run.taskId)
  expect(world.live).toHaveLength(1)
  const event = { type: 'agent.tool_called', data: { callId: 'c', tool: 'Bash', input: {} } } as const
  world.journal.append({ task: run.taskId, run: run.id, runNo: 0, fence: run.fence, at: new Date(world.clock.now()), event })
  await world.journal.flush()
  await world.pass(minute, 5 * second)
  expect(world.live.map((one) => one.run.taskId).toSorted()).toEqual([run.taskId, ...waiting].toSorted())
  expect(await world.cooldowns()).toEqual([])
  await world.stop()
}, 60_000)

it('a first run that tells nothing of what it does is waited for no longer than a refusal takes', async () => {
  const world = await makeWorld()
  world.provide('claude', (nowMs) => usageLimit(nowMs + hour))
  await world.add(agentWith('claude'))
  await world.add(agentWith('claude'))
  await world.pass(2 * minute)
  world.runsTake(9 * hour)
  await world.pass(hour + 5 * minute, minute)
  expect(world.live).toHaveLength(1)
  await world.pass(10 * minute, minute)
  expect(world.live).toHaveLength(2)
  await world.stop()
}, 60_000)

it('tasks that cannot be woken do not keep others from running', async () => {
  const world = await makeWorld()
  world.provide('claude', (nowMs) => usageLimit(nowMs + hour))
  const stuck = await world.add(agentWith('claude'))
  await world.pass(2 * minute)
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$`.execute(
    world.db,
  )
  await sql`create trigger refuse before update on pawl.tasks for each row when (old.state = 'parked') execute function refuse()`.execute(
    world.db,
  )
  world.clock.advance(2 * hour)
  const other = await world.add(agentWith('codex'))
  await world.pass(0)
  expect(await world.task(other)).toMatchObject({ state: 'running' })
  expect(await world.task(stuck)).toMatchObject({ state: 'parked' })
  await world.stop()
}, 60_000)

it('whoever retries a task that has waited often enough has it wait as often again', async () => {
  const world = await makeWorld({ usageWindows: 2 })
  world.provide('claude', (nowMs) => usageLimit(nowMs + 5 * hour))
  const id = await world.add(agentWith('claude'))
  await world.pass(day)
  const failed = await world.task(id)
  expect(failed.state).toBe('failed')
  const continuation = JSON.stringify({ kind: 'retry', fresh: false, after: failed.fence })
  await sql`update pawl.tasks set state = 'queued', ended_at = null, continuation = ${continuation}::jsonb where id = ${id}`.execute(
    world.db,
  )
  await world.pass(6 * hour)
  expect(await world.task(id)).toMatchObject({ state: 'parked', fence: failed.fence + 2 })
  await world.pass(day)
  expect(await world.task(id)).toMatchObject({ state: 'failed', fence: failed.fence + 3 })
  await world.stop()
}, 60_000)
