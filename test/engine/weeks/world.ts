import { sql } from 'kysely'
import { accountOf } from '../../../src/domain/agent/account.ts'
import type { ResolvedAgent } from '../../../src/domain/agent/agent-config.ts'
import { newId } from '../../../src/domain/id.ts'
import type { TaskSpec } from '../../../src/domain/task/spec.ts'
import { rankOf } from '../../../src/domain/task/task.ts'
import type { Ended } from '../../../src/engine/base/retry.ts'
import { createAdmission } from '../../../src/engine/queue/admission.ts'
import type { Dispatch } from '../../../src/engine/queue/dispatch.ts'
import { nextWake } from '../../../src/store/cooldowns.ts'
import { leaseRuns } from '../../../src/store/runs.ts'
import type { CooldownRow, TaskRow } from '../../../src/store/tables.ts'
import { insertTask } from '../../../src/store/tasks.ts'
import { commandAgent } from '../home.ts'
import { makeParts } from '../store.ts'
import { HandClock } from '../test-clock.ts'

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

export interface Start {
  readonly task: string
  readonly agent: string
  readonly atMs: number
}

/** What a provider answers to a run that ends now; undefined if it served it. */
export type Provider = (nowMs: number, run: Start) => Partial<Ended> | undefined

export const usageLimit = (resetMs: number): Partial<Ended> => ({
  category: 'usage_limit',
  message: "You've hit your limit.",
  retryAt: new Date(resetMs),
})
export const overload: Partial<Ended> = { category: 'overloaded', message: 'Overloaded.' }

/** An account of its own for each key that is named. */
export const agentWith = (name: string, key = name, changes: Partial<ResolvedAgent> = {}): ResolvedAgent =>
  commandAgent(['true'], { name, auth: { env: [`KEY_OF_${key.toUpperCase()}`] }, ...changes })

/** The engine's own admission, settlement and journal over a real database, with a clock and providers that a test decides: weeks go by in seconds. */
export async function makeWorld(
  options: {
    running?: number
    perAgent?: Record<string, number>
    usageWindows?: number
    /** Told how to close it; when the test ends if left out. */
    onEnd?: (close: () => Promise<void>) => void
  } = {},
) {
  const clock = new HandClock()
  const { usageWindows } = options
  const parts = await makeParts(options.onEnd, { clock, ...(usageWindows === undefined ? {} : { usageWindows }) })
  const { db, journal, bus, log, settler } = parts
  let worker = await parts.addWorker()
  // A run is taken by its row here; the queue that hands runs to other processes has tests of its own.
  const dispatch: Dispatch = {
    enqueue: async () => undefined,
    take: async () => ({ runs: [], spendAndCommit: async () => undefined }),
    forget: async () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
  }
  const limits = { running: options.running ?? 8, perAgent: options.perAgent ?? {} }
  const admission = createAdmission({
    ...{ db, journal, dispatch, bus, clock, log, limits, shared: true, chance: () => 0.5 },
    get worker() {
      return worker
    },
  })
  const providers = new Map<string, Provider>()
  const starts: Start[] = []
  const live: { run: { id: string; taskId: string; sessionId: string; fence: number }; start: Start; endsAt: number }[] = []
  let takesMs = minute
  let check: () => Promise<void> = async () => undefined

  const add = async (
    agent: ResolvedAgent,
    more: { priority?: number; session?: string; workspace?: string; user?: string; spec?: TaskSpec; at?: number } = {},
  ) => {
    const id = newId('task', clock.now())
    const session = more.session ?? newId('session', clock.now())
    const isNew = !(await db.selectFrom('pawl.sessions').select('id').where('id', '=', session).executeTakeFirst())
    const [priority, nowMs] = [more.priority ?? 0, more.at ?? clock.now()]
    await insertTask(db, {
      ...{ id, session: { id: session, isNew }, agent, account: accountOf(agent), prompt: 'x', spec: more.spec ?? {} },
      ...{
        workspace: more.workspace ?? `/tmp/${id}`,
        workspaceOwn: true,
        tags: [],
        extraArgs: [],
        attended: false,
        boundTo: null,
      },
      ...{ priority, rank: rankOf(nowMs, priority), user: more.user, at: new Date(nowMs) },
    })
    return id
  }

  const take = async () => {
    const { rows } = await sql<{ id: string; task_id: string; session_id: string; fence: number; agent: string }>`
      select id, task_id, session_id, fence, agent from pawl.runs where state = 'admitted' order by admitted_at, id
    `.execute(db)
    if (rows.length === 0) return 0
    const at = new Date(clock.now())
    await db.transaction().execute((tx) =>
      leaseRuns(
        tx,
        rows.map((row) => row.id),
        { worker, at },
      ),
    )
    for (const { id, task_id: taskId, session_id: sessionId, fence, agent } of rows) {
      const start = { task: taskId, agent, atMs: clock.now() }
      starts.push(start)
      live.push({ run: { id, taskId, sessionId, fence }, start, endsAt: clock.monotonic() + takesMs })
    }
    return rows.length
  }
  const endRuns = async () => {
    for (const one of live.filter(({ endsAt }) => endsAt <= clock.monotonic())) {
      live.splice(live.indexOf(one), 1)
      const answer = providers.get(one.start.agent)?.(clock.now(), one.start)
      const end: Ended = answer ? { outcome: 'failed', text: '', ...answer } : { outcome: 'succeeded', text: 'done' }
      await settler.settleRun(one.run, end)
      // What the engine's own timer admits now is looked at before the next one ends, whose limit it could not know of.
      await settleDown()
    }
  }
  const settleDown = async () => {
    // What the engine's own timer has admitted counts as well.
    while ((await admission.admit()) + (await take()) > 0) await check()
  }

  admission.start()
  const stop = async () => admission.stop()
  return {
    ...parts,
    clock,
    /** Ends the runs of a worker as recovery does, and goes on with another. */
    async workerDies() {
      await sql`update pawl.workers set seen_at = ${new Date(clock.now())} where id = ${worker}`.execute(db)
      await parts.recovery.bury(worker, { died: true })
      live.splice(0)
      worker = await parts.addWorker()
    },
    get worker() {
      return worker
    },
    starts,
    live,
    stop,
    add,
    provide: (agent: string, provider: Provider) => void providers.set(agent, provider),
    runsTake: (ms: number) => {
      takesMs = ms
    },
    /** Asked whenever something was admitted. */
    onAdmitted: (look: () => Promise<void>) => {
      check = look
    },
    /** Time passes: from one thing that happens to the next, at most `stepMs` at once. */
    async pass(ms: number, stepMs = hour) {
      for (const untilMs = clock.monotonic() + ms; ; ) {
        await settleDown()
        const left = untilMs - clock.monotonic()
        if (left <= 0) return
        const wake = await nextWake(db, new Date(clock.now()), { worker, shared: true })
        const waits = [left, stepMs, ...live.map((one) => one.endsAt - clock.monotonic())]
        if (wake) waits.push(Math.max(wake.getTime() - clock.now() + 1, 1))
        clock.advance(Math.max(Math.min(...waits), 1))
        await endRuns()
      }
    },
    tasks: async (): Promise<TaskRow[]> => db.selectFrom('pawl.tasks').selectAll().orderBy('id').execute(),
    task: async (id: string): Promise<TaskRow> =>
      db.selectFrom('pawl.tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    cooldowns: async (): Promise<CooldownRow[]> => db.selectFrom('pawl.cooldowns').selectAll().orderBy('account').execute(),
    eventsOf: async (id: string) => journal.read(id, { after: 0, limit: 1_000 }),
  }
}
