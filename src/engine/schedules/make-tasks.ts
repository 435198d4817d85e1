import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { lesserRole, localUser, mayUse, roles, type Standing } from '../../domain/auth/role.ts'
import { denied, invalid, messageOf, PawlError } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import { NewTask, type TaskView } from '../../domain/view/view.ts'
import type { Db } from '../../store/database.ts'
import * as store from '../../store/schedules.ts'
import { findByIdempotencyKeys, findTask, lockTask } from '../../store/tasks.ts'
import { findUser } from '../../store/users.ts'
import type { Caller } from '../auth/audit.ts'
import type { Journal } from '../journal/journal.ts'
import { bySchedule, settleTick } from '../tasks/settle-tick.ts'

/** The verbs that ticks need. */
export interface TickTasks {
  createTask(
    task: NewTask,
    options: Caller & { idempotencyKey: string; schedule: string },
  ): Promise<{ task: Pick<TaskView, 'id' | 'session'> }>
  cancelTask(id: string, options: Caller & { now: boolean }): Promise<Pick<TaskView, 'state'>>
}

export interface MakeTasksParts {
  readonly db: Db
  readonly journal: Journal
  readonly clock: Clock
  readonly log?: Log
  readonly tasks: TickTasks
}

/** For so long a tick is tried again while nothing can be taken: the disk is full, the queue is full, the database is away. */
const giveUpAfterMs = 10 * 60_000

/**
 * Makes the tasks of ticks that wait for theirs, of one schedule or of all. Each has a key of its tick, so whoever does this again, after a crash or beside another
 * daemon, finds the task that is there. Answers whether any still waits.
 */
export async function makeTasks(parts: MakeTasksParts, schedule?: string): Promise<boolean> {
  for (let isLeft = false; ; isLeft = false) {
    let isMoved = false
    for (const tick of await store.waitingTicks(parts.db, schedule)) {
      if (await makeTask(parts, tick)) isMoved = true
      else isLeft = true
    }
    if (!isMoved) return isLeft
  }
}

/** False if it has to wait. */
async function makeTask(parts: MakeTasksParts, tick: store.WaitingTick): Promise<boolean> {
  const { db, journal, clock, log, tasks } = parts
  const key = `schedule:${tick.schedule_id}:${tick.due_at.toISOString()}`
  try {
    const user = tick.user_name
    const [known] = await findByIdempotencyKeys(db, [user === localUser ? key : `${user} ${key}`])
    if (!known && tick.overlap !== 'skip' && (await isHeldUp(parts, tick))) return false
    const caller = { by: bySchedule, token: tick.schedule_id, user, standing: await standingNow(db, tick) }
    const session = tick.session_id ?? tick.request.session
    const request = read({ ...tick.request, ...(session === null || session === undefined ? {} : { session }) })
    const made = known
      ? await findTask(db, known.task_id).then((row) => row && { id: row.id, session: row.session_id })
      : (await tasks.createTask(request, { ...caller, idempotencyKey: key, schedule: tick.schedule_id })).task
    if (!made) throw denied(`Its task ${known?.task_id} was removed before it began.`)
    const tickOf = { schedule: tick.schedule_id, due: tick.due_at, task: made.id, session: made.session }
    const isLeftOut = await journal.transact('schedule.mark', async (tx) => {
      // Whoever ends the task holds its row: either they find the tick, or we find the task ended.
      const task = await lockTask(tx, made.id)
      await store.lockSchedule(tx, tick.schedule_id)
      if (!(await store.startTick(tx, tickOf))) return store.isSkipped(tx, tickOf)
      if (task && isEnded(task.state)) await settleTick(tx, made.id, task.ended_at ?? new Date(clock.now()))
      return false
    })
    // The schedule was paused, or due again, while the task was being made.
    if (isLeftOut) await tasks.cancelTask(made.id, { by: bySchedule, token: tick.schedule_id, now: true })
    return true
  } catch (error) {
    const isForNow = !(error instanceof PawlError) || error.code === 'unavailable'
    const isFinal = !isForNow || clock.now() - (tick.refused_at?.getTime() ?? clock.now()) > giveUpAfterMs
    const at = new Date(clock.now())
    log?.warn('a schedule was due and its task could not be made', {
      schedule: tick.schedule_id,
      due: tick.due_at.toISOString(),
      error: messageOf(error),
      final: isFinal,
    })
    const refused = { schedule: tick.schedule_id, due: tick.due_at, detail: messageOf(error), at, isFinal }
    await journal.transact('schedule.mark', (tx) => store.refuseTick(tx, refused))
    return isFinal
  }
}

/** As a client would have sent it. An earlier version may have written what this one does not take. */
function read(request: unknown): NewTask {
  const task = NewTask.safeParse(request)
  if (task.success) return task.data
  const [issue] = task.error.issues
  throw invalid(`Its task cannot be read any more: ${issue?.path.join('.')}: ${issue?.message}. Change the schedule.`)
}

/** Earlier tasks of the schedule come first, or go first. */
async function isHeldUp({ db, journal, clock, tasks }: MakeTasksParts, tick: store.WaitingTick): Promise<boolean> {
  const open = await store.openTasks(db, tick.schedule_id)
  if (tick.overlap === 'queue') return open.length > 0
  let isLeft = false
  for (const { id } of open) {
    const { state } = await tasks.cancelTask(id, { by: bySchedule, token: tick.schedule_id, now: false })
    if (!isEnded(state)) isLeft = true
    else
      await journal.transact('schedule.mark', (tx) =>
        store.endTick(tx, id, { state: 'failed', detail: 'It had not ended when the next was due.', at: new Date(clock.now()) }),
      )
  }
  return isLeft
}

/** What whoever wrote the schedule may do today, and no more than they might then. */
async function standingNow(db: Db, { user_name: user, standing }: store.WaitingTick): Promise<Standing | undefined> {
  if (user === localUser) return standing ?? undefined
  const found = await findUser(db, user)
  if (!found || found.is_disabled)
    throw denied(
      `The user "${user}", whose schedule this is, ${found ? 'is disabled' : 'was removed'}; whoever edits it takes it over.`,
    )
  const then = roles.find((role) => role === standing)
  const now = then === undefined ? found.role : lesserRole(then, found.role)
  if (!mayUse('create', now)) throw denied(`The user "${user}", whose schedule this is, may not ask for tasks any more.`)
  return now
}
