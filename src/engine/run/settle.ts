import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Totals } from '../../domain/money/totals.ts'
import { type MoveName, rankOf } from '../../domain/task/task.ts'
import { atOnce } from '../../store/at-once.ts'
import { insertChanges } from '../../store/changes.ts'
import type { Tx } from '../../store/database.ts'
import type { Entry } from '../../store/events.ts'
import { totals } from '../../store/ledger.ts'
import { markHeard, questionsOfTask } from '../../store/questions.ts'
import { endRun, hasNamedSession, rememberVendorSession, runsOfTask, withholdRun } from '../../store/runs.ts'
import type { Continuation, QuestionRow, RunRow, TaskRow } from '../../store/tables.ts'
import { type LockedTask, lockTask, moveTask } from '../../store/tasks.ts'
import { type Ended, type Settlement, settle, type TaskFacts } from '../base/retry.ts'
import { isHeld, suspicionAfter, type WorkerDeath } from '../base/suspicion.ts'
import { keepProof } from '../checks/proof.ts'
import type { Bus } from '../journal/bus.ts'
import type { Journal } from '../journal/journal.ts'
import { bookRun, type RunBooked } from '../money/book.ts'
import { soundFigures } from '../money/sound-figures.ts'
import { newAnswers } from '../questions/new-answers.ts'
import { failOver } from '../tasks/limits/failover.ts'
import { noteLimit } from '../tasks/limits/note-limit.ts'
import { afterMove, withTotals } from '../tasks/move.ts'
import { takeResults } from '../tasks/subtasks/tell-parent.ts'

export interface Settler {
  /**
   * Ends a run and moves its task on, in one transaction. False if the run is no longer the task's current one: then somebody else has settled it and
   * nothing is written. Safe to call again after an error whose effect is unknown.
   */
  settleRun(run: RunToSettle, end: Ended, facts?: RunFacts): Promise<boolean>
}

export interface RunFacts {
  readonly vendorSession?: string | undefined
  readonly startedAtMs?: number | undefined
  /** Its worker was found dead. */
  readonly death?: WorkerDeath | undefined
  /** What the run said last, to be stored with its end. */
  readonly said?: readonly Entry[] | undefined
}

export interface RunToSettle {
  readonly id: string
  readonly taskId: string
  readonly sessionId: string
  readonly fence: number
  /** Only if no worker has taken it. */
  readonly untaken?: boolean
}

export function createSettler(options: {
  journal: Journal
  bus: Bus
  clock: Clock
  log: Log
  chance?: () => number
  /** How often in a row a task waits for a usage limit to end. */
  usageWindows?: number
}): Settler {
  const { journal, bus, clock, log, chance = Math.random } = options
  return {
    async settleRun(run, reported, facts = {}) {
      const { end: sound, left } = soundFigures(reported)
      const settled = await journal.transact('run.settle', async (tx, record) => {
        let end = sound
        const at = new Date(clock.now())
        const [before, found] = await atOnce(tx, (one) => [lockTask(one, run.taskId), questionsOfTask(one, run.taskId)])
        if (before?.state !== 'running' || before.fence !== run.fence) return undefined

        if (run.untaken && !(await withholdRun(tx, run.id))) return undefined

        if (facts.vendorSession !== undefined) await rememberVendorSession(tx, run.sessionId, facts.vendorSession, at)
        const live = answeredLive(found, run)
        const heard = [...(hasHeard(end) ? toldTo(before) : []), ...(isFinal(end) ? live : [])]
        await markHeard(tx, heard)
        const asked = found.map((question) => withHeard(question, heard))
        // The first run of a task has no earlier ones.
        const isCut = end.outcome === 'lost' || end.outcome === 'interrupted'
        const all = run.fence > 1 || facts.startedAtMs === undefined || isCut ? await runsOfTask(tx, run.taskId) : []
        const own = all.find(({ id }) => id === run.id)
        // Written with the kill unit, and kept where a backup is restored.
        const hasStarted = !isCut || own?.walls != null
        const suspect = suspicionAfter(
          end,
          before.suspect,
          { death: own?.kill_unit ? facts.death : undefined, hasStarted, wasAlone: own?.alone === true },
          at,
        )
        const runs = all.filter(({ fence }) => fence > lookedAtAfter(before))
        const tookMs = at.getTime() - (facts.startedAtMs ?? own?.started_at?.getTime() ?? at.getTime())
        const pending = asked.find((question) => question.state === 'pending')
        // What the run heard while it went on it has worked with, unless it has ended as if it had not.
        const wasAnswered = asked.some(
          (question) =>
            question.run_id === run.id &&
            question.state === 'answered' &&
            (end.outcome === 'blocked' || !live.includes(question.id)),
        )
        const answered = wasAnswered && !pending ? newAnswers(asked) : undefined
        if (end.outcome === 'blocked' && !pending && !answered) end = { ...end, ...askedNothing }
        await noteLimit(tx, before, end, at)
        const decided = decide(before, end, {
          pendingId: pending?.id,
          answered,
          ownFailures: ownFailuresInARow(runs, run.id),
          nowMs: clock.now(),
          chance: chance(),
          task: {
            ...(await factsOf(
              tx,
              before,
              end,
              runs.filter((other) => other.id !== run.id),
              { at, isAsked: pending !== undefined || wasAnswered },
            )),
            hasStarted,
            suspect,
            maxWindows: options.usageWindows,
          },
        })
        const isBack = decided.settlement.move === 'give_back'
        const results = goesOnWithSubtasks(decided.settlement) ? await takeResults(tx, before) : undefined
        const told: Continuation | undefined = results && { kind: 'subtasks', results }
        const booked = await bookRun(tx, { id: run.id, task: before, isFirst: run.fence === 1 }, end, facts.said ?? [], at)
        end = { ...end, usage: booked.usage, costUsd: booked.costUsd }
        // The original question stays the task's own until an answer or a retry replaces it.
        const continuation =
          decided.continuation ??
          told ??
          failedChecks(end, before) ??
          (isFinal(end) || isDone(decided.settlement) ? null : (unheardLive(asked, live) ?? (await stillToSay(tx, before, run))))
        const changes = {
          at,
          fence: run.fence,
          reason: decided.settlement.reason,
          resumeAt: decided.settlement.resumeAt ?? null,
          attempts: decided.settlement.attempts,
          suspect: decided.settlement.reason?.kind === 'worker_lost' ? null : suspect,
          continuation,
          ...(isBack ? { rank: rankOf(before.created_at.getTime(), before.priority) } : {}),
          ...(isBack
            ? {}
            : {
                result: {
                  outcome: decided.outcome,
                  text: end.text,
                  verified: end.checks?.passed === true,
                  costUsd: booked.task.costUsd,
                  ...(booked.task.known === 'reported' ? {} : { costKnown: booked.task.known }),
                  usage: end.usage ?? null,
                  ...(end.summary === undefined ? {} : { summary: end.summary }),
                },
              }),
        }
        const ended = { ...end, outcome: decided.outcome }
        const [moved] = await atOnce(tx, (one) => [
          moveTask(one, run.taskId, decided.settlement.move, changes),
          endRun(one, run, ended, at),
        ])
        // It is locked, runs, and has our fence: a move that did nothing is one that its table does not have.
        if (!moved) throw new Error(`a running task does not make the move ${decided.settlement.move}`)
        if (end.changes) await insertChanges(tx, run, end.changes)
        if (end.checks?.ran)
          await keepProof(
            tx,
            { task: run.taskId, run: run.id, folder: end.checks.folder ?? before.workspace },
            end.checks.ran,
            at,
          )
        // Nobody else can hold the fence while we hold the task, and it is no longer the run's own.
        for (const { fence: _, ...entry } of booked.said) record(entry)
        for (const detail of left)
          record({ task: run.taskId, run: run.id, event: { type: 'run.noted', data: { code: 'figure_refused', detail } } })
        record({
          task: run.taskId,
          run: run.id,
          event: { type: 'run.ended', data: endedData(end, decided.outcome, tookMs) },
        })
        record({ task: run.taskId, event: withTotals(decided.settlement.event, totalsOf(run, all, tookMs, booked)) })
        await afterMove({ tx, record, at }, moved)
        return decided
      })
      for (const detail of left) log.warn('a figure of an agent was left out', { run: run.id, detail, reason: 'figure_refused' })
      if (!settled) {
        log.info('a late result was not applied', {
          run: run.id,
          fence: run.fence,
          outcome: sound.outcome,
          reason: 'late_result',
        })
        return false
      }
      bus.tell('admission')
      if (settled.settlement.move === 'park') bus.tell('parked')
      return true
    },
  }
}

const goesOnWithSubtasks = ({ event }: Settlement) => event.type === 'task.requeued' && event.data.why === 'subtasks'

/** Nobody could answer it, so the task would wait for ever. */
const askedNothing = {
  outcome: 'failed',
  category: 'protocol_error',
  message: 'The agent waits for an answer, but no question of it has come to us.',
} as const

/** One that said and did nothing has not worked with what it was told either. */
const isFinal = (end: Ended) =>
  end.outcome === 'succeeded' || end.outcome === 'partial' || (end.outcome === 'empty' && end.didNothing !== true)
const isDone = ({ move }: Settlement) => move === 'complete' || move === 'hold_for_review'

/** A question that is stored outranks every other end but a cancel: the person's answer decides how it goes on. */
function decide(
  task: TaskRow,
  end: Ended,
  facts: {
    pendingId: string | undefined
    answered: Continuation | undefined
    ownFailures: number
    nowMs: number
    chance: number
    task: TaskFacts
  },
): { settlement: Settlement; outcome: Ended['outcome']; continuation?: Continuation } {
  const isCancelled = end.outcome === 'cancelled' || task.cancel !== null
  const asked = facts.pendingId !== undefined && !isCancelled
  // Answered while the run still went on: no run has heard the answer, so the next one must, however this one ended.
  const isHeldBack = end.outcome === 'lost' && isHeld(facts.task.suspect)
  if (facts.answered && !asked && !isCancelled && !isHeldBack) {
    const event = { type: 'task.requeued', data: { why: 'answer' } } as const
    return {
      settlement: { move: 'give_back', reason: null, event, attempts: 0 },
      outcome: 'blocked',
      continuation: facts.answered,
    }
  }
  const outcome = asked ? 'blocked' : end.outcome
  const input = {
    end: { ...end, outcome },
    task: facts.task,
    attempts: task.attempts,
    ownFailures: facts.ownFailures,
    policy: task.agent_config.retry,
    nowMs: facts.nowMs,
    chance: facts.chance,
    questionId: facts.pendingId,
    cancelledBy: task.cancel_by ?? undefined,
  }
  const settlement = settle(input)
  // A cancel that was confirmed holds, also when the worker was lost before it could obey: the task does not go on.
  if (isCancelled && goesOn.has(settlement.move))
    return { settlement: settle({ ...input, end: { ...end, outcome: 'cancelled' } }), outcome }
  return { settlement, outcome }
}

/** What the task itself and its earlier runs say about how it goes on. */
async function factsOf(
  tx: Tx,
  task: LockedTask,
  end: Ended,
  earlier: readonly RunRow[],
  { at, isAsked }: { at: Date; isAsked: boolean },
): Promise<Omit<TaskFacts, 'hasStarted' | 'suspect'>> {
  const { spec } = task
  const others = earlier.filter((run) => run.started_at !== null)
  const isReviewedAfterSubtasks = task.has_subtasks && spec.subtasks?.whenDone === 'review'
  const isLimited = end.outcome === 'failed' && end.category === 'usage_limit'
  // A task that waits for an answer, or goes on with one, is handed over when its turn comes, and says so then.
  const failover = isLimited && !isAsked && task.cancel === null ? await failOver(tx, task, at) : undefined
  return {
    id: task.id,
    // Whoever made the subtasks looks at them; a person looks at the whole.
    review: (spec.review === true || isReviewedAfterSubtasks) && task.parent_id === null,
    // A replay that was cut short has nothing to go on with: it is made anew.
    once: spec.once === true || spec.replay !== undefined,
    openSubtasks: task.open_subtasks,
    // Where checks must pass before anybody looks, one more run shows that they do.
    untoldSubtasks: isReviewedAfterSubtasks && !spec.checks ? 0 : task.untold_subtasks,
    checkAttempts: spec.checks?.attempts ?? 0,
    checksFailed: others.filter((run) => run.category === 'checks_failed').length + (end.category === 'checks_failed' ? 1 : 0),
    sameEnds: end.fingerprint === undefined || isLimited ? 0 : 1 + inARow(others, (run) => run.fingerprint === end.fingerprint),
    windows: isLimited ? 1 + inARow(others, (run) => run.category === 'usage_limit') : 0,
    failover,
  }
}

/** How many of the last runs are like this, without a gap. */
function inARow(runs: readonly RunRow[], isLike: (run: RunRow) => boolean): number {
  const other = runs.toReversed().findIndex((run) => !isLike(run))
  return other === -1 ? runs.length : other
}

/** What did not pass is what the next run is told first. */
const failedChecks = ({ category, checks }: Ended, before: TaskRow): Continuation | undefined =>
  category === 'checks_failed' && checks
    ? { kind: 'checks', failed: checks.failed.map((failed) => ({ ...failed })), ...begun(before) }
    : undefined

/** The fence of the last run that somebody has looked at before the task went on. */
const lookedAtAfter = ({ continuation }: TaskRow) => (continuation && 'after' in continuation ? (continuation.after ?? 0) : 0)
const begun = (task: TaskRow) => (lookedAtAfter(task) === 0 ? {} : { after: lookedAtAfter(task) })

const goesOn: ReadonlySet<MoveName> = new Set(['give_back', 'park', 'block'])

/** Runs before this one that a failure of ours ended, in a row. One that was never taken, or was lost, says nothing either way. */
const ownFailuresInARow = (runs: readonly RunRow[], current: string): number =>
  inARow(
    runs.filter((run) => run.id !== current && run.started_at !== null && run.outcome !== 'lost'),
    (run) => run.outcome === 'interrupted' && run.category !== null,
  )

/** A run that came to its own end has worked with what it was told; of any other nobody knows. */
const hasHeard = (end: Ended) => isFinal(end) || end.outcome === 'blocked'
const toldTo = ({ continuation }: TaskRow) =>
  continuation?.kind === 'answer' ? continuation.answers.map((answer) => answer.questionId) : []
/** Answers that came while the run waited for them. */
const answeredLive = (asked: readonly QuestionRow[], run: RunToSettle) =>
  asked.flatMap(({ id, run_id, state, held_by }) =>
    run_id === run.id && state === 'answered' && held_by === run.fence ? [id] : [],
  )
/** Of a run that was cut short nobody knows whether it worked with them. */
const unheardLive = (asked: readonly QuestionRow[], live: readonly string[]) => (live.length > 0 ? newAnswers(asked) : undefined)
const withHeard = (question: QuestionRow, heard: readonly string[]): QuestionRow =>
  heard.includes(question.id) ? { ...question, heard: true } : question

/** What the run was told is told to the next one too; only a new conversation that has begun is not begun once more. */
async function stillToSay(tx: Tx, task: TaskRow, run: RunToSettle): Promise<Continuation | null> {
  const { continuation } = task
  if (continuation?.kind !== 'retry' || !continuation.fresh) return continuation
  return (await hasNamedSession(tx, run)) ? { kind: 'retry', fresh: false, ...begun(task) } : continuation
}

/** From what is at hand: the end of a run asks the database for nothing more. */
function totalsOf(run: RunToSettle, all: readonly RunRow[], tookMs: number, { task }: RunBooked): Totals | undefined {
  const earlier = all.filter(({ id, started_at, ended_at }) => id !== run.id && started_at !== null && ended_at !== null)
  const runs = earlier.length + (run.untaken ? 0 : 1)
  const durationMs = earlier.reduce((sum, other) => sum + other.ended_at!.getTime() - other.started_at!.getTime(), tookMs)
  return runs === 0 ? undefined : totals({ runs, durationMs, ...task })
}

function endedData(end: Ended, outcome: Ended['outcome'], durationMs: number) {
  return {
    outcome,
    durationMs,
    ...(end.category === undefined ? {} : { category: end.category }),
    ...(end.message === undefined ? {} : { message: end.message }),
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    ...(end.usage === undefined ? {} : { usage: end.usage }),
    ...(end.costUsd === undefined ? {} : { costUsd: end.costUsd }),
  }
}
