import { sql } from 'kysely'
import { newId } from '../../src/domain/id.ts'
import type { NewSchedule, When } from '../../src/domain/schedule/schedule.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import type { Ended } from '../../src/engine/base/retry.ts'
import { createJournal } from '../../src/engine/journal/journal.ts'
import { createTicker } from '../../src/engine/schedules/ticker.ts'
import { move } from '../../src/engine/tasks/move.ts'
import { type ScheduleVerbs, scheduleVerbs } from '../../src/operations/schedules.ts'
import type { OwnTaskVerbs } from '../../src/operations/tasks/tasks.ts'
import { findByIdempotencyKeys, findTask, insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeParts } from './store.ts'
import { HandClock } from './test-clock.ts'

type Tasks = Pick<OwnTaskVerbs, 'createTask' | 'cancelTask' | 'checkTask'>

/** Schedules over a real store with a clock that a test moves. Nobody runs their tasks: a test says how each has ended. */
export async function makeWorld(onEnd: (close: () => Promise<void>) => void) {
  const parts = await makeParts(onEnd)
  const { db, bus, log } = parts
  const clock = new HandClock()
  const journal = createJournal({ db, bus, clock, log, onBroken: () => undefined })
  const worker = await parts.addWorker()
  const audit = createAudit({ db, clock, log })
  /** What making a task is answered with instead of the task, while a test says so. */
  const world = { refusal: undefined as Error | undefined }

  const tasks = {
    async createTask(input, { idempotencyKey: key = '', schedule }) {
      const session = input.session ?? newId('session', clock.now())
      const [known] = await findByIdempotencyKeys(db, [key])
      if (known) return { task: { id: known.task_id, session: (await findTask(db, known.task_id))!.session_id } } as never
      if (world.refusal) throw world.refusal
      const id = newId('task', clock.now())
      await insertTask(db, {
        ...{
          id,
          session: { id: session, isNew: input.session === undefined },
          agent: commandAgent(['true'], { name: input.agent ?? 'helper' }),
        },
        ...{
          schedule,
          prompt: input.prompt,
          workspace: `/tmp/${id}`,
          workspaceOwn: true,
          priority: 0,
          rank: 0,
          tags: [],
          extraArgs: [],
        },
        ...{ attended: false, boundTo: null, at: new Date(clock.now()), idempotency: { key, bodyHash: '' } },
      })
      return { task: { id, session } } as never
    },
    async cancelTask(id, { by }) {
      const event = { type: 'task.cancelled', data: { by } } as const
      await journal.transact('task.cancel', (tx, record) =>
        move({ tx, record, at: new Date(clock.now()) }, id, 'cancel_waiting', { reason: { kind: 'cancelled' }, event }),
      )
      return { state: (await findTask(db, id))!.state } as never
    },
    checkTask: async () => undefined,
  } satisfies Tasks

  const verbs: ScheduleVerbs = scheduleVerbs({ db, journal, bus, clock, audit, defaultAgent: async () => 'helper' }, tasks)
  const makeTicker = () => createTicker({ db, journal, bus, clock, log, tasks })
  const ticker = makeTicker()

  const add = (when: When, given: Partial<NewSchedule> = {}) =>
    verbs.createSchedule(
      { when, task: { prompt: 'work', agent: 'helper' }, session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0, ...given },
      { by: 'test' },
    )
  /** Time passes in steps, and each time the schedules are looked at. */
  const pass = async (ms: number, stepMs: number) => {
    for (let gone = 0; gone < ms; gone += stepMs) {
      clock.advance(Math.min(stepMs, ms - gone))
      await ticker.look()
    }
  }
  const open = async (schedule: string) => {
    const { rows } = await sql<{ id: string; session_id: string; fence: number }>`
      select id, session_id, fence from pawl.tasks where schedule_id = ${schedule} and ended_at is null order by created_at, id`.execute(
      db,
    )
    return rows
  }
  /** Every open task of the schedule has run and ended so. */
  const end = async (schedule: string, ended: Ended = { outcome: 'succeeded', text: 'done' }) => {
    for (const { id, session_id, fence } of await open(schedule)) {
      const run = await parts.admit({ id, session: session_id }, fence + 1, worker)
      await parts.settler.settleRun(run, ended)
      // The settler has a clock of its own here.
      await sql`update pawl.tasks set ended_at = ${new Date(clock.now())} where id = ${id}`.execute(db)
    }
  }
  const tasksOf = async (schedule: string) => {
    const { rows } = await sql<{ id: string; session_id: string; created_at: Date }>`
      select id, session_id, created_at from pawl.tasks where schedule_id = ${schedule} order by created_at, id`.execute(db)
    return rows
  }
  const ticks = async (schedule: string) =>
    (await verbs.getSchedule(schedule)).ticks.toReversed().map(({ dueAt, state }) => `${dueAt.slice(0, 16)} ${state}`)

  return Object.assign(world, {
    ...parts,
    clock,
    journal,
    tasks,
    verbs,
    ticker,
    makeTicker,
    add,
    pass,
    open,
    end,
    tasksOf,
    ticks,
  })
}
export type World = Awaited<ReturnType<typeof makeWorld>>
