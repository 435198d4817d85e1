import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { accountOf } from '../../../src/domain/agent/account.ts'
import { lockAdmission } from '../../../src/store/admission.ts'
import type { TaskRow } from '../../../src/store/tables.ts'
import { agentWith, hour, makeWorld, minute, overload, second, usageLimit } from './world.ts'

const limits = { running: 4, perAgent: { a: 2 } }
const agents = { a: agentWith('a', 'one'), b: agentWith('b', 'one'), c: agentWith('c', 'two') }
type AgentName = keyof typeof agents
/** The kill unit of a program that is gone. */
const nobody = '{"kind":"process_group","marker":"nobody-carries-this","enforced":false}'
const userSlots = { anna: 1, bert: 2 }

const Task = fc.record({
  agent: fc.constantFrom<AgentName>('a', 'b', 'c'),
  priority: fc.constantFrom(-1, 0, 1),
  user: fc.constantFrom('local', 'anna', 'bert'),
  // Few of each, so that they are wanted by several.
  session: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  workspace: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
})
const Step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), task: Task }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(30 * second, 2 * minute, 20 * minute, 2 * hour),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      agent: fc.constantFrom<AgentName>('a', 'c'),
      kind: fc.constantFrom('usage', 'overload'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('free' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('halt' as const, 'resume' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.constantFrom(3 * hour, -3 * hour) }) },
)
type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never

describe('whatever is asked of admission', () => {
  let world: Awaited<ReturnType<typeof makeWorld>>
  const closers: (() => Promise<void>)[] = []
  beforeAll(async () => {
    world = await makeWorld({ ...limits, onEnd: (close) => closers.push(close) })
    await world.dispatch.start()
    for (const [name, slots] of Object.entries(userSlots))
      await sql`insert into pawl.users (name, role, slots, created_at) values (${name}, 'operator', ${slots}, now())`.execute(
        world.db,
      )
    return async () => {
      await world.stop()
      await world.dispatch.stop()
      for (const close of closers) await close()
    }
  })

  /** Per account, the limit that its provider has at this moment. */
  const limited = new Map<string, 'usage' | 'overload'>()
  const answer = (agent: AgentName) => (nowMs: number) => {
    const kind = limited.get(accountOf(agents[agent]))
    return kind === 'usage'
      ? usageLimit(nowMs + hour)
      : kind === 'overload'
        ? { ...overload, retryAt: new Date(nowMs + minute) }
        : undefined
  }
  let known = new Set<string>()

  /** Asked after every admission: what runs may run. */
  const look = async () => {
    const running = (await world.tasks()).filter((task) => task.state === 'running')
    const most = (values: readonly string[]) =>
      Math.max(0, ...[...Map.groupBy(values, (one) => one).values()].map((all) => all.length))
    expect(most(running.map((task) => task.session_id)), 'runs on one session').toBeLessThanOrEqual(1)
    expect(most(running.map((task) => task.workspace)), 'runs in one workspace').toBeLessThanOrEqual(1)
    expect(running.length, 'runs in all').toBeLessThanOrEqual(limits.running)
    expect(running.filter((task) => task.agent === 'a').length, 'runs of agent a').toBeLessThanOrEqual(limits.perAgent.a)
    for (const [name, slots] of Object.entries(userSlots))
      expect(running.filter((task) => task.user_name === name).length, `runs of ${name}`).toBeLessThanOrEqual(slots)

    const { rows: alone } = await sql<{ task_id: string }>`
      select task_id from pawl.runs where alone and state <> 'ended'`.execute(world.db)
    if (alone.length > 0)
      expect(
        running.map(({ id }) => id),
        'runs beside one that is alone',
      ).toEqual([alone[0]!.task_id])

    const fresh = running.filter((task) => !known.has(`${task.id} ${task.fence}`))
    known = new Set(running.map((task) => `${task.id} ${task.fence}`))
    const { rows: halted } = await sql`select 1 from pawl.halt`.execute(world.db)
    if (halted.length > 0) expect(fresh, 'started while all agents are stopped').toEqual([])
    for (const cooling of await world.cooldowns()) {
      const started = fresh.filter((task) => task.account === cooling.account)
      expect(started.length, 'started on an account that may be at its limit').toBeLessThanOrEqual(1)
      const isClosed = cooling.kind === 'usage_limit' && cooling.until.getTime() > world.clock.now()
      if (isClosed) expect(started, 'started on an account that is at its limit').toEqual([])
    }
    const queued = (await world.tasks()).filter((task) => task.state === 'queued')
    for (const started of fresh)
      for (const passed of queued)
        if (areAlike(started, passed))
          expect(Number(started.rank), 'rank of what was started first').toBeLessThanOrEqual(Number(passed.rank))
  }
  /** Nothing but their rank decides between them. */
  const areAlike = (one: TaskRow, other: TaskRow) =>
    one.suspect === null &&
    other.suspect === null &&
    one.agent === other.agent &&
    one.user_name === other.user_name &&
    isAlone(one) &&
    isAlone(other)
  const isAlone = (task: TaskRow) => task.workspace === `/tmp/${task.id}` && !task.session_id.includes('shared')

  const take = async (step: Step, run: number) => {
    switch (step.do) {
      case 'add': {
        const { agent, session, workspace, ...more } = step.task
        await world.add(agents[agent], {
          ...more,
          ...(session === undefined ? {} : { session: `s_shared${run}x${session}` }),
          ...(workspace === undefined ? {} : { workspace: `/tmp/shared${workspace}` }),
        })
        return
      }
      case 'pass':
        return world.pass(step.ms)
      case 'limit':
        return void limited.set(accountOf(agents[step.agent]), step.kind as 'usage' | 'overload')
      case 'free':
        return limited.clear()
      case 'die':
        await sql`update pawl.runs set walls = 'none', kill_unit = ${nobody}::jsonb where state = 'running'`.execute(world.db)
        return world.workerDies()
      case 'jump':
        return world.clock.jump(step.ms)
      case 'halt':
        await world.db.transaction().execute(async (tx) => {
          // An admission may be under way, and is looked at only when it is over.
          await lockAdmission(tx)
          await sql`insert into pawl.halt (at, halted_by) values (now(), 'test') on conflict do nothing`.execute(tx)
        })
        known = new Set((await world.tasks()).filter(({ state }) => state === 'running').map(({ id, fence }) => `${id} ${fence}`))
        return
      case 'resume':
        await sql`delete from pawl.halt`.execute(world.db)
    }
  }

  it('two runs never share a session or a workspace, no limit is exceeded, suspects run alone, ranks decide, and every task comes to its end', async () => {
    for (const name of ['a', 'b', 'c'] as const) world.provide(name, answer(name))
    world.onAdmitted(look)
    let run = 0
    const property = fc.asyncProperty(fc.array(Step, { minLength: 8, maxLength: 30 }), async (steps) => {
      await sql`truncate pawl.tasks, pawl.sessions, pawl.cooldowns, pawl.halt cascade`.execute(world.db)
      world.live.splice(0)
      limited.clear()
      known = new Set()
      run++
      for (const step of steps) await take(step, run)
      await take({ do: 'resume' }, run)
      limited.clear()
      // Longer than any limit and any jump of the clock.
      await world.pass(12 * hour, 30 * minute)
      const left = (await world.tasks()).filter(
        ({ state, reason }) => state !== 'completed' && state !== 'failed' && reason?.kind !== 'worker_lost',
      )
      expect(left.map(({ state, reason, resume_at }) => ({ state, reason, resume_at }))).toEqual([])
    })
    await fc.assert(property, { numRuns: Number(process.env.ADMISSION_RUNS ?? 12), endOnFailure: true })
  }, 300_000)
})

it('an old task of low priority runs although tasks of high priority keep coming', async () => {
  const world = await makeWorld({ running: 1 })
  const agent = agentWith('a')
  world.runsTake(5 * minute)
  // Before the low one: the engine's own timer may admit as soon as there is a task.
  for (const _ of [1, 2, 3]) await world.add(agent, { priority: 1 })
  const low = await world.add(agent, { priority: -1 })
  const addedMs = world.clock.now()
  // Always two that wait, each of a higher priority than the old one.
  for (let n = 0; n < 60 && !world.starts.some((start) => start.task === low); n++) {
    while ((await world.tasks()).filter((task) => task.state === 'queued' && task.id !== low).length < 2)
      await world.add(agent, { priority: 1 })
    await world.pass(5 * minute)
  }
  const started = world.starts.find((start) => start.task === low)
  // One step of priority is worth an hour.
  expect(started!.atMs - addedMs).toBeGreaterThan(hour)
  expect(started!.atMs - addedMs).toBeLessThan(2.5 * hour)
  await world.stop()
}, 120_000)
