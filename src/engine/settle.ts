import type { Clock } from '../clock.ts'
import { isEnded, type MoveName, rankOf } from '../domain/task.ts'
import type { Log } from '../log.ts'
import { closeQuestions, questionsOfTask } from '../store/questions.ts'
import { costOfTask, endRun, rememberVendorSession, runsOfTask } from '../store/runs.ts'
import type { Continuation, TaskRow } from '../store/tables.ts'
import { lockTask, moveTask } from '../store/tasks.ts'
import type { Bus } from './bus.ts'
import type { Journal } from './journal.ts'
import { type Ended, type Settlement, settle } from './retry.ts'

export interface Settler {
  /**
   * Ends a run and moves its task on, in one transaction. False if the run is no longer the task's current one: then somebody else has settled it and
   * nothing is written. Safe to call again after an error whose effect is unknown.
   */
  settleRun(
    run: RunToSettle,
    end: Ended,
    facts?: { vendorSession?: string | undefined; startedAtMs?: number | undefined },
  ): Promise<boolean>
}

export interface RunToSettle {
  readonly id: string
  readonly taskId: string
  readonly sessionId: string
  readonly fence: number
}

export function createSettler(options: { journal: Journal; bus: Bus; clock: Clock; log: Log; chance?: () => number }): Settler {
  const { journal, bus, clock, log, chance = Math.random } = options
  return {
    async settleRun(run, end, facts = {}) {
      const settled = await journal.transact('run.settle', async (tx, record) => {
        const at = new Date(clock.now())
        const before = await lockTask(tx, run.taskId)
        if (before?.state !== 'running' || before.fence !== run.fence) return undefined

        const asked = await questionsOfTask(tx, run.taskId)
        const questions = asked.filter((question) => question.run_id === run.id)
        const runs = await runsOfTask(tx, run.taskId)
        const pending = questions.find((question) => question.state === 'pending')
        const answered = questions.findLast((question) => question.state === 'answered')
        const decided = decide(before, end, {
          pendingId: pending?.id,
          answered:
            answered && !pending
              ? { kind: 'answer', questionId: answered.id, question: answered.text, answer: answered.answer ?? '' }
              : undefined,
          losses: lossesInARow(runs, run.id),
          nowMs: clock.now(),
          chance: chance(),
        })
        const isBack = decided.settlement.move === 'give_back'
        const earlierCost = runs.length > 1 ? await costOfTask(tx, run.taskId) : null
        const cost = end.costUsd === undefined ? earlierCost : (earlierCost ?? 0) + end.costUsd
        const moved = await moveTask(tx, run.taskId, decided.settlement.move, {
          at,
          fence: run.fence,
          reason: decided.settlement.reason,
          resumeAt: decided.settlement.resumeAt ?? null,
          attempts: decided.settlement.attempts,
          // The original question stays the task's own until an answer or a retry replaces it.
          continuation: decided.continuation ?? (isFinal(end) ? null : before.continuation),
          ...(isBack ? { rank: rankOf(before.created_at.getTime(), before.priority) } : {}),
          ...(isBack
            ? {}
            : { result: { outcome: decided.outcome, text: end.text, verified: false, costUsd: cost, usage: end.usage ?? null } }),
        })
        if (!moved) return undefined
        await endRun(tx, run, { ...end, outcome: decided.outcome }, at)
        if (facts.vendorSession !== undefined) await rememberVendorSession(tx, run.sessionId, facts.vendorSession, at)
        record({
          task: run.taskId,
          run: run.id,
          event: { type: 'run.ended', data: endedData(end, decided.outcome, at.getTime() - (facts.startedAtMs ?? at.getTime())) },
        })
        // What an ended task still asks, also from an earlier run, needs no answer any more.
        if (isEnded(moved.state) && asked.some((question) => question.state === 'pending'))
          for (const questionId of await closeQuestions(tx, run.taskId))
            record({ task: run.taskId, event: { type: 'question.closed', data: { questionId, state: 'cancelled' } } })
        record({ task: run.taskId, event: decided.settlement.event })
        return decided
      })
      if (!settled) {
        log.info('a late result was not applied', { run: run.id, fence: run.fence, outcome: end.outcome, reason: 'late_result' })
        return false
      }
      bus.tell('admission')
      return true
    },
  }
}

const isFinal = (end: Ended) => end.outcome === 'succeeded' || end.outcome === 'partial' || end.outcome === 'empty'

/** A question that is stored outranks every other end but a cancel: the person's answer decides how it goes on. */
function decide(
  task: TaskRow,
  end: Ended,
  facts: { pendingId: string | undefined; answered: Continuation | undefined; losses: number; nowMs: number; chance: number },
): { settlement: Settlement; outcome: Ended['outcome']; continuation?: Continuation } {
  const isCancelled = end.outcome === 'cancelled' || task.cancel !== null
  const asked = facts.pendingId !== undefined && !isCancelled
  // Answered while the run still went on: no run has heard the answer, so the next one must, however this one ended.
  if (facts.answered && !asked && !isCancelled) {
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
    attempts: task.attempts,
    lossesInARow: facts.losses,
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

const goesOn: ReadonlySet<MoveName> = new Set(['give_back', 'park', 'block'])

function lossesInARow(runs: readonly { id: string; outcome: string | null }[], current: string): number {
  let count = 0
  for (const run of runs.toReversed()) {
    if (run.id === current) continue
    if (run.outcome !== 'lost') break
    count++
  }
  return count
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
