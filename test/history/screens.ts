import type { Clock } from '../../src/base/clock.ts'
import { taskStates } from '../../src/domain/task/task.ts'
import { lookForTrouble } from '../../src/engine/upkeep/health.ts'
import { moneyVerbs } from '../../src/operations/money.ts'
import { schedulesHealth } from '../../src/operations/schedule-health.ts'
import { countColumns, listTasks, type TaskFilter } from '../../src/operations/tasks/list-tasks.ts'
import { findCandidates, lookAround } from '../../src/store/admission.ts'
import { findHead, findUnsealed, listAudit } from '../../src/store/audit.ts'
import { dueTasks, listCooldowns, nextWake, putOffQueued, queuedWithFailover } from '../../src/store/cooldowns.ts'
import type { Db } from '../../src/store/database.ts'
import { dueQuestions, endedEscalations, nextDeadline } from '../../src/store/deadlines.ts'
import { beforeAll, currentSnapshot, readFeed } from '../../src/store/feed.ts'
import { readGauges } from '../../src/store/gauges.ts'
import { findHalt, runningTasks } from '../../src/store/halt.ts'
import { sumModelCalls } from '../../src/store/model-figures.ts'
import { claimOutbox, countOutbox, forgetOrphans, forgetSent, listOutbox, releaseOutbox } from '../../src/store/outbox.ts'
import { listQuestions } from '../../src/store/questions.ts'
import { listRecordings } from '../../src/store/recordings.ts'
import { bookOrphans } from '../../src/store/reservations.ts'
import { lookAtSchedules, restingSince, waitingTicks } from '../../src/store/schedules.ts'
import { listSessions } from '../../src/store/sessions.ts'
import { readTurn } from '../../src/store/suspects.ts'
import { countByState } from '../../src/store/task-counts.ts'
import { removedRuns } from '../../src/store/task-removal.ts'
import { countQueued, recentWorkspaces } from '../../src/store/tasks.ts'
import { listTokens } from '../../src/store/tokens.ts'
import { listUsers } from '../../src/store/users.ts'
import { beat, livingWorkers, orphanedWorkers } from '../../src/store/workers.ts'

export interface Screen {
  readonly name: string
  /** What it asks the database for. It may write: whoever calls it undoes that. */
  readonly ask: (db: Db) => Promise<unknown>
}

const worker = 'w_000000000000000001'
const caps = { timeZone: 'UTC' }
const limits = { running: 4, perAgent: { helper: 4, reviewer: 4, seldom: 4 } }

/** What screens, commands, metrics, admission and periodic looks ask the database for. `now` is the time to which the history was seeded. */
export function screens(now: Date): Screen[] {
  const today = new Date(now.getTime() - 43_200_000)
  const clock = { now: () => now.getTime() } as Clock
  const list = (filter: Partial<TaskFilter>) => (db: Db) => listTasks(db, { limit: 50, ...filter }, { limits, now })
  const count = (filter: Parameters<typeof countColumns>[1]) => (db: Db) => countColumns(db, filter)
  const ended = ['completed', 'failed', 'timed_out', 'cancelled', 'over_budget'] as const
  /** The page in the middle of the history. */
  const paged = (filter: Partial<TaskFilter>) => async (db: Db) => {
    const at = new Date(now.getTime() - 86_400_000 * 150).toISOString()
    const cursor = Buffer.from(JSON.stringify([at, `t_${'0'.repeat(18)}`, filter.sort ?? 'created'])).toString('base64url')
    return list({ ...filter, cursor })(db)
  }
  return [
    { name: 'all tasks', ask: list({}) },
    { name: 'all tasks, a page in the middle', ask: paged({}) },
    ...(['created', 'updated', 'ended'] as const).flatMap((sort) => [
      { name: `all tasks, by ${sort}`, ask: list({ sort }) },
      { name: `tasks of an agent, by ${sort}`, ask: list({ sort, agent: 'helper' }) },
      { name: `tasks of an agent that works seldom, by ${sort}`, ask: list({ sort, agent: 'seldom' }) },
      { name: `failed tasks, by ${sort}`, ask: list({ sort, states: ['failed'] }) },
      { name: `failed tasks, by ${sort}, a page in the middle`, ask: paged({ sort, states: ['failed'] }) },
      { name: `tasks of an agent, by ${sort}, a page in the middle`, ask: paged({ sort, agent: 'helper' }) },
    ]),
    ...taskStates.map((state) => ({ name: `tasks that are ${state}`, ask: list({ states: [state] }) })),
    { name: 'ended tasks', ask: list({ states: ended }) },
    { name: 'running tasks of an agent', ask: list({ states: ['running'], agent: 'helper' }) },
    { name: 'running tasks with a tag', ask: list({ states: ['running'], tag: 'nightly' }) },
    ...(['working', 'needs_you', 'review', 'waiting'] as const).map((column) => ({
      name: `board: ${column}`,
      ask: list({ columns: [column] }),
    })),
    { name: 'board: done', ask: list({ columns: ['done'], sort: 'ended' }) },
    { name: 'board: numbers', ask: count({}) },
    { name: 'board: numbers of an agent', ask: count({ agent: 'helper' }) },
    { name: 'board: numbers of a tag', ask: count({ tag: 'nightly' }) },
    { name: 'board: numbers of words that few have', ask: count({ text: 'NEEDLE' }) },
    { name: 'now: what waits for somebody', ask: list({ columns: ['needs_you', 'review'] }) },
    { name: 'now: what has ended today', ask: list({ endedSince: today.toISOString(), sort: 'ended' }) },
    { name: 'what has ended today, by created', ask: list({ endedSince: today.toISOString() }) },
    { name: 'what has changed today, by created', ask: list({ updatedSince: today.toISOString() }) },
    { name: 'what has ended since long, by created', ask: list({ endedSince: new Date(0).toISOString() }) },
    { name: 'board: numbers of what has ended today', ask: count({ endedSince: today.toISOString() }) },
    { name: 'tasks that changed today', ask: list({ updatedSince: today.toISOString(), sort: 'updated' }) },
    { name: 'words that all have', ask: list({ text: 'failing test' }) },
    { name: 'words that few have', ask: list({ text: 'NEEDLE' }) },
    { name: 'words that few have, by ended', ask: list({ text: 'NEEDLE', sort: 'ended' }) },
    { name: 'words that nobody has', ask: list({ text: 'haystack' }) },
    { name: 'the end of an id', ask: list({ text: '000000000000000007' }) },
    {
      name: 'words that few have, changed today',
      ask: list({ text: 'NEEDLE', sort: 'updated', updatedSince: today.toISOString() }),
    },
    { name: 'a tag that many have', ask: list({ tag: 'nightly' }) },
    { name: 'a tag that few have', ask: list({ tag: 'seldom' }) },
    { name: 'a tag that nobody has', ask: list({ tag: 'none' }) },
    { name: 'a2a: tasks of an agent that failed', ask: list({ agent: 'helper', stages: ['failed'], sort: 'updated' }) },
    {
      name: 'a2a: tasks of an agent that wait for somebody',
      ask: list({ agent: 'helper', stages: ['input_required'], sort: 'updated' }),
    },
    { name: 'a2a: how many', ask: count({ agent: 'helper', stages: ['failed'] }) },
    { name: 'health: states', ask: countByState },
    { name: 'health: agents', ask: (db) => lookForTrouble(db, { now }) },
    { name: 'health: schedules', ask: (db) => schedulesHealth(db, now) },
    { name: 'health: notifications', ask: countOutbox },
    { name: 'health: halt', ask: findHalt },
    { name: 'metrics', ask: (db) => readGauges(db, now) },
    { name: 'questions that wait', ask: (db) => listQuestions(db, { state: 'pending' }) },
    { name: 'questions of today', ask: (db) => listQuestions(db, { since: today }) },
    { name: 'questions of a task', ask: (db) => listQuestions(db, { state: 'pending', task: 't_000000000000000100' }) },
    { name: 'sessions', ask: (db) => listSessions(db, { limit: 50 }) },
    { name: 'sessions of an agent that works seldom', ask: (db) => listSessions(db, { agent: 'seldom', limit: 50 }) },
    { name: 'tasks of a session', ask: list({ session: 's_000000000000000007' }) },
    { name: 'costs of today', ask: (db) => moneyVerbs({ db, clock, caps, prices: {} as never }).listCosts({}) },
    { name: 'models of today', ask: (db) => sumModelCalls(db, { since: today, until: undefined }, 500) },
    { name: 'notifications', ask: (db) => listOutbox(db, { limit: 50 }) },
    { name: 'notifications that wait', ask: (db) => listOutbox(db, { state: 'pending', limit: 50 }) },
    { name: 'notifications that were given up', ask: (db) => listOutbox(db, { state: 'dead', limit: 50 }) },
    { name: 'recordings', ask: (db) => listRecordings(db, 500) },
    { name: 'folders', ask: (db) => recentWorkspaces(db, 20) },
    { name: 'limits', ask: listCooldowns },
    { name: 'tokens', ask: (db) => listTokens(db, { all: false, now }) },
    { name: 'users', ask: (db) => listUsers(db, now.toISOString().slice(0, 10)) },
    { name: 'audit', ask: (db) => listAudit(db, { limit: 50 }) },
    { name: 'feed: what is new', ask: async (db) => readFeed(db, { seen: await currentSnapshot(db) }, { limit: 500 }) },
    { name: 'feed: from the beginning', ask: (db) => readFeed(db, { seen: beforeAll }, { limit: 200 }) },
    { name: 'admission: look', ask: (db) => lookAround(db, { worker, shared: true, running: 4, now }) },
    {
      name: 'admission: candidates',
      ask: (db) => findCandidates(db, { ...limits, shared: true, worker, now, suspects: false }),
    },
    { name: 'admission: who runs alone', ask: (db) => readTurn(db, { worker, shared: true }, now) },
    { name: 'admission: who wakes', ask: (db) => dueTasks(db as never, now, { worker, shared: true }) },
    { name: 'admission: when the next one wakes', ask: (db) => nextWake(db, now, { worker, shared: true }) },
    { name: 'admission: who has to wait', ask: (db) => putOffQueued(db as never, now) },
    { name: 'admission: who goes to another agent', ask: (db) => queuedWithFailover(db as never, now) },
    { name: 'the length of the queue', ask: (db) => countQueued(db, 100_000) },
    { name: 'what runs', ask: runningTasks },
    { name: 'worker: beat', ask: (db) => beat(db, worker, now) },
    { name: 'recovery: living workers', ask: livingWorkers },
    { name: 'recovery: workers that left something', ask: orphanedWorkers },
    { name: 'recovery: reservations', ask: (db) => bookOrphans(db, now) },
    { name: 'questions that are due', ask: (db) => dueQuestions(db, now) },
    { name: 'the next deadline', ask: (db) => nextDeadline(db, now) },
    { name: 'escalations that ended', ask: endedEscalations },
    { name: 'schedules: look', ask: (db) => lookAtSchedules(db, { now, ahead: now }) },
    { name: 'schedules: rest', ask: (db) => restingSince(db, { now }) },
    { name: 'schedules: ticks that wait', ask: (db) => waitingTicks(db) },
    { name: 'delivery: claim', ask: (db) => claimOutbox(db, { target: 'ops' }, { worker, now, latest: now, limit: 20 }) },
    { name: 'delivery: release', ask: (db) => releaseOutbox(db, now) },
    { name: 'delivery: forget what was sent', ask: (db) => forgetSent(db, new Date(0)) },
    { name: 'delivery: forget orphans', ask: forgetOrphans },
    { name: 'runs that were removed', ask: removedRuns },
    { name: 'audit: what is not sealed', ask: (db) => findUnsealed(db, 100) },
    { name: 'audit: the last one', ask: findHead },
  ]
}
