import type { Clock } from '../base/clock.ts'
import type { AuditAction } from '../domain/auth/audit.ts'
import { localUser } from '../domain/auth/role.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { NewSchedule, ScheduleChanges, ScheduleSummary, ScheduleView, TaskTemplate } from '../domain/schedule/schedule.ts'
import { sayWhen } from '../domain/schedule/words.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { beginTick } from '../engine/schedules/fire.ts'
import { makeTasks } from '../engine/schedules/make-tasks.ts'
import { planOf } from '../engine/schedules/plan.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db, Tx } from '../store/database.ts'
import * as store from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { scheduleSummary, scheduleView } from './schedule-views.ts'
import type { OwnTaskVerbs } from './tasks/tasks.ts'

/** Tasks that come again. Every verb takes the id of a schedule or its name. */
export interface ScheduleVerbs {
  /** Checked as the task itself would be, as of now. A daemon fires it from then on. */
  createSchedule(schedule: NewSchedule, caller: Caller & { source?: string | undefined }): Promise<ScheduleView>
  listSchedules(): Promise<ScheduleSummary[]>
  getSchedule(named: string): Promise<ScheduleView>
  /** Whoever changes what is done owns the schedule from then on: its tasks may do what they may. The task is merged with what is there, unless it is whole. */
  changeSchedule(named: string, changes: ScheduleChanges, caller: Caller & { isWhole?: boolean }): Promise<ScheduleView>
  /** Nothing is fired until it is resumed, and nothing of that time is made up for. */
  pauseSchedule(named: string, caller: Caller): Promise<ScheduleView>
  resumeSchedule(named: string, caller: Caller): Promise<ScheduleView>
  /** One tick now, out of turn; the rest stays as it is. */
  runSchedule(named: string, caller: Caller): Promise<ScheduleView>
  /** Its history goes with it; tasks that it made stay. One that stands in settings comes back when a daemon reads them. */
  removeSchedule(named: string, caller: Caller): Promise<void>
}

export interface ScheduleVerbParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
  readonly defaultAgent: () => Promise<string>
}

export function scheduleVerbs(
  parts: ScheduleVerbParts,
  tasks: Pick<OwnTaskVerbs, 'createTask' | 'cancelTask' | 'checkTask'>,
): ScheduleVerbs {
  const { db, journal, bus, clock, audit } = parts
  const now = () => new Date(clock.now())

  const existing = async (named: string) => {
    const row = await translateDbErrors(() => store.findSchedule(db, named))
    if (!row) throw unknown(named)
    return row
  }
  const view = async (id: string) => {
    const [row, ticks] = await translateDbErrors(() => Promise.all([existing(id), store.ticksOf(db, [id])]))
    return scheduleView(row, ticks.get(id) ?? [], now())
  }
  /** Changes one under its lock, says so in the audit, and has it looked at. */
  const change = async (
    named: string,
    act: { caller: Caller; action: AuditAction },
    work: (tx: Tx, row: ScheduleRow) => Promise<Record<string, unknown> | undefined>,
  ): Promise<string> => {
    const { id } = await existing(named)
    await translateDbErrors(() =>
      journal.transact('schedule.write', async (tx) => {
        const row = await store.lockSchedule(tx, id)
        if (!row) throw unknown(named)
        await insertAudit(tx, audit.entry(act.caller, act.action, id, { name: row.name, ...(await work(tx, row)) }))
      }),
    ).catch(nameTaken)
    bus.tell('schedules')
    return id
  }

  return {
    async createSchedule(input, { source = null, ...caller }) {
      const task = await checked(input, caller)
      const at = now()
      const id = newId('schedule', clock.now())
      const row: ScheduleRow = {
        ...{ id, name: input.name ?? null, timing: input.when, since: at, task },
        ...{ session_mode: input.session, session_id: null, overlap: input.overlap, catch_up: input.catchUp },
        ...{ jitter_ms: input.jitterMs, last_due_at: null, ...planFrom({ ...input, id }, at), source },
        ...{ user_name: caller.user ?? localUser, standing: caller.standing ?? null, created_at: at, updated_at: at },
      }
      await translateDbErrors(() =>
        journal.transact('schedule.write', async (tx) => {
          if (!(await store.insertSchedule(tx, row))) throw taken(input.name)
          await insertAudit(tx, audit.entry(caller, 'schedule.create', id, detailOf(row)))
        }),
      )
      bus.tell('schedules')
      return view(id)
    },

    async listSchedules() {
      const rows = await translateDbErrors(() => store.schedulesOf(db))
      const ids = rows.map(({ id }) => id)
      const ticks = await translateDbErrors(() => store.ticksOf(db, ids))
      return rows.map((row) => scheduleSummary(row, ticks.get(row.id) ?? [], now()))
    },

    getSchedule: async (named) => view((await existing(named)).id),

    async changeSchedule(named, changes, { isWhole = false, ...caller }) {
      const before = await existing(named)
      assertOwn(before, caller)
      const merged = isWhole && changes.task ? (changes.task as TaskTemplate) : mergedTask(before.task, changes.task ?? {})
      const task = await checked(
        { when: changes.when ?? before.timing, session: changes.session ?? before.session_mode, task: merged },
        caller,
      )
      const id = await change(named, { caller, action: 'schedule.change' }, async (tx, row) => {
        const at = now()
        const isPlanned = changes.when !== undefined || changes.jitterMs !== undefined
        const since = changes.when === undefined ? row.since : at
        const jitter_ms = changes.jitterMs ?? row.jitter_ms
        const timing = changes.when ?? row.timing
        const plan =
          isPlanned && row.state !== 'paused' ? planFrom({ id: row.id, when: timing, jitterMs: jitter_ms }, at, since) : {}
        const session_mode = changes.session ?? row.session_mode
        const changed: ScheduleRow = {
          ...row,
          ...{ name: changes.name ?? row.name, timing, since, task, session_mode, jitter_ms },
          ...{ overlap: changes.overlap ?? row.overlap, catch_up: changes.catchUp ?? row.catch_up },
          // Another agent cannot go on with the conversation of this one.
          session_id:
            session_mode === 'keep' && row.session_mode === 'keep' && agentOf(task) === agentOf(row.task) ? row.session_id : null,
          ...plan,
          ...{ user_name: caller.user ?? localUser, standing: caller.standing ?? null, updated_at: at },
        }
        await store.updateSchedule(tx, changed)
        return { ...detailOf(changed), changed: Object.keys(changes) }

        // The lock is the row's; the id is known since before it was taken.
      })
      return view(id)
    },

    async pauseSchedule(named, caller) {
      const id = await change(named, { caller, action: 'schedule.pause' }, async (tx, row) => {
        if (row.state === 'done') throw conflict(`The schedule ${nameOf(row)} is done; there is nothing to pause.`)
        const at = now()
        await store.updateSchedule(tx, { ...row, state: 'paused', next_due_at: null, next_at: null, updated_at: at })
        // Of ticks that wait for an earlier task too: whoever pauses a schedule is told that nothing more comes of it.
        await store.skipWaiting(tx, row.id, { detail: 'The schedule was paused before it had begun.', at, manualToo: false })
        return undefined
      })
      return view(id)
    },

    async resumeSchedule(named, caller) {
      const id = await change(named, { caller, action: 'schedule.resume' }, async (tx, row) => {
        if (row.state === 'done')
          throw conflict(`The schedule ${nameOf(row)} is done; give it another time with "pawl schedules edit".`)
        if (row.state === 'active') return undefined
        const at = now()
        // A time of rest begins anew; intervals keep their rhythm.
        const since = row.timing.kind === 'idle' ? at : row.since
        await store.updateSchedule(tx, { ...row, since, ...planOf({ ...row, since }, at.getTime()), updated_at: at })
        return undefined
      })
      return view(id)
    },

    async runSchedule(named, caller) {
      const id = await change(named, { caller, action: 'schedule.run' }, async (tx, row) => {
        const at = now()
        let begun: Awaited<ReturnType<typeof beginTick>>
        // Two within one millisecond are two.
        for (let due = at.getTime(); begun === undefined; due++)
          begun = await beginTick(tx, row, { due: new Date(due), at, isManual: true })
        if (begun.state === 'skipped')
          throw conflict(`The schedule ${nameOf(row)} is not run now: ${begun.detail} Its overlap is "skip".`)
        return undefined
      })
      await makeTasks({ db, journal, clock, tasks }, id)
      return view(id)
    },

    async removeSchedule(named, caller) {
      await change(named, { caller, action: 'schedule.remove' }, async (tx, row) => {
        await store.deleteSchedule(tx, row.id)
        return undefined
      })
    },
  }

  /** The task as each tick will make it, refused as it would be if it were asked for now. */
  async function checked(
    { when, session, task }: Pick<NewSchedule, 'when' | 'session' | 'task'>,
    caller: Caller,
  ): Promise<TaskTemplate> {
    if (when.kind === 'idle' && when.of === 'session' && session === 'new')
      throw invalid(
        'Whose rest counts is to be the conversation, and each tick begins a new one; choose the session "keep" as well.',
      )
    const isNamed = task.agent !== undefined || task.agentConfig !== undefined || when.kind !== 'idle'
    const whole = isNamed ? task : { ...task, agent: await parts.defaultAgent() }
    await tasks.checkTask(whole, caller)
    return whole
  }
}

/** When a new or changed one is due first. A moment that has passed is a mistake of whoever names it. */
function planFrom({ id, when, jitterMs }: Pick<NewSchedule, 'when' | 'jitterMs'> & { id: string }, at: Date, since = at) {
  const after = when.kind === 'initial' ? since.getTime() - 1 : at.getTime()
  const plan = planOf({ id, timing: when, since, jitter_ms: jitterMs }, after)
  if (plan.state === 'done') throw invalid(`${sayWhen(when)} has passed already; name a moment to come.`)
  return plan
}

/** What stands in settings is changed there. */
function assertOwn(row: ScheduleRow, { by }: Caller): void {
  if (row.source !== null && by !== row.source)
    throw conflict(`The schedule ${nameOf(row)} comes from ${row.source}; change it there, and start the daemon anew.`)
}

/** An agent by name and a whole agent exclude each other. */
function mergedTask(before: TaskTemplate, changes: NonNullable<ScheduleChanges['task']>): TaskTemplate {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const { agent: _name, agentConfig: _whole, ...rest } = before
  const hasAgent = changes.agent !== undefined || changes.agentConfig !== undefined
  return { ...(hasAgent ? rest : before), ...(given as Partial<TaskTemplate>) } as TaskTemplate
}

const agentOf = (task: TaskTemplate) => task.agentConfig?.name ?? task.agent
const detailOf = (row: ScheduleRow) => ({
  name: row.name,
  when: sayWhen(row.timing),
  agent: row.task.agentConfig?.name ?? row.task.agent,
})
const nameOf = (row: ScheduleRow) => (row.name === null ? row.id : `"${row.name}"`)
const unknown = (named: string) => notFound(`There is no schedule "${named}"; "pawl schedules ls" lists those there are.`)
const taken = (name: string | undefined) =>
  conflict(`There is a schedule "${name}" already; choose another name, or change that one.`)

function nameTaken(error: unknown): never {
  throw (error as { code?: unknown }).code === '23505' ? conflict('Another schedule has that name; choose another.') : error
}
