import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../domain/event/event.ts'
import { type Category, categories, categoryNames, type Outcome, outcomes } from '../../domain/run/outcome.ts'
import type { MoveName } from '../../domain/task/task.ts'
import { backoffMs, type Ended, maxOwnFailures, settle } from './retry.ts'

const policy = { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 }
const now = Date.UTC(2030, 0, 1)
const plain = {
  id: 't_1',
  hasStarted: true,
  suspect: null,
  review: false,
  once: false,
  openSubtasks: 0,
  untoldSubtasks: 0,
  checkAttempts: 0,
  checksFailed: 1,
  sameEnds: 0,
  windows: 0,
}
const decide = (end: Partial<Ended>, more: Partial<Parameters<typeof settle>[0]> = {}) =>
  settle({
    end: { outcome: 'failed', text: '', ...end },
    task: plain,
    attempts: 0,
    ownFailures: 0,
    policy,
    nowMs: now,
    chance: 0,
    ...more,
  })

/** What becomes of a task whose first run fails so. */
const firstTime: Record<Category, MoveName> = {
  rate_limited: 'park',
  overloaded: 'park',
  usage_limit: 'park',
  network: 'park',
  session_missing: 'give_back',
  crashed: 'give_back',
  empty_answer: 'give_back',
  invalid_output: 'give_back',
  exit_code: 'fail',
  checks_failed: 'fail',
  reported_failure: 'fail',
  output_limit: 'fail',
  oom: 'fail',
  disk_limit: 'fail',
  dependency_failed: 'fail',
  unanswered: 'fail',
  no_progress: 'fail',
  auth_failed: 'fail',
  bad_config: 'fail',
  binary_missing: 'fail',
  permission_denied: 'fail',
  sandbox_error: 'fail',
  workspace_error: 'fail',
  guardrail_tripped: 'fail',
  max_turns: 'fail',
  context_overflow: 'fail',
  budget_exceeded: 'fail',
  total_timeout: 'fail',
  idle_timeout: 'give_back',
  protocol_error: 'fail',
  internal: 'fail',
}

const message = 'so it was'
/** Every outcome but `failed`, which the table of categories decides. */
const otherEnds: [Outcome, Category | undefined, NewEvent][] = [
  ['succeeded', undefined, { type: 'task.completed', data: { verified: false } }],
  ['partial', undefined, { type: 'task.completed', data: { verified: false, outcome: 'partial' } }],
  ['empty', 'empty_answer', { type: 'task.completed', data: { verified: false, outcome: 'empty' } }],
  ['timed_out', 'total_timeout', { type: 'task.timed_out', data: { category: 'total_timeout', message } }],
  ['timed_out', 'idle_timeout', { type: 'task.requeued', data: { why: 'retry', detail: message } }],
  ['cancelled', undefined, { type: 'task.cancelled', data: { by: 'ann' } }],
  ['blocked', undefined, { type: 'task.blocked', data: { kind: 'question', questionId: 'q_1' } }],
  ['denied', 'permission_denied', { type: 'task.failed', data: { category: 'permission_denied', message } }],
  ['tripped', 'guardrail_tripped', { type: 'task.failed', data: { category: 'guardrail_tripped', message } }],
  ['over_budget', 'budget_exceeded', { type: 'task.over_budget', data: { message } }],
  ['interrupted', undefined, { type: 'task.requeued', data: { why: 'interrupted' } }],
  ['lost', undefined, { type: 'task.requeued', data: { why: 'lost' } }],
]

describe('settle', () => {
  it('has a decision in these tables for every outcome', () => {
    expect(new Set([...otherEnds.map(([outcome]) => outcome), 'failed'])).toEqual(new Set(outcomes))
  })

  it('waits 5 s after the first try and 10 s after the second, and then gives up', () => {
    const delays = [0, 1].map((attempts) => decide({ category: 'overloaded' }, { attempts }).resumeAt!.getTime() - now)
    expect(delays).toEqual([5_000, 10_000])
    expect(decide({ category: 'overloaded' }, { attempts: 2 })).toMatchObject({ move: 'fail', reason: { kind: 'overloaded' } })
  })

  it.each(['interrupted', 'lost'] as const)(
    'asks a person before what is to be run once begins again after it was %s; what had not started was not begun',
    (outcome) => {
      const once = { ...plain, once: true }
      expect(decide({ outcome }, { task: once })).toMatchObject({
        move: 'block',
        reason: {
          kind: 'interrupted',
          detail: expect.stringMatching(/once only.*pawl logs t_1.*pawl retry t_1.*pawl cancel t_1/),
        },
        event: { type: 'task.blocked', data: { kind: 'interrupted' } },
      })
      expect(decide({ outcome }, { task: { ...once, hasStarted: false } })).toMatchObject({ move: 'give_back' })
      expect(decide({ outcome })).toMatchObject({ move: 'give_back' })
    },
  )

  it('tries a stall again as often as its attempts allow, and never one that is to be run once', () => {
    const stall = { outcome: 'timed_out', category: 'idle_timeout' } as const
    expect(decide(stall)).toMatchObject({ move: 'give_back', attempts: 1 })
    expect(decide(stall, { attempts: 1 })).toMatchObject({ move: 'park', reason: { kind: 'backoff' }, attempts: 2 })
    expect(decide(stall, { attempts: 2 })).toMatchObject({ move: 'time_out', reason: { kind: 'idle_timeout' } })
    expect(decide(stall, { task: { ...plain, once: true } })).toMatchObject({ move: 'time_out' })
    expect(decide({ ...stall, category: 'total_timeout' })).toMatchObject({ move: 'time_out' })
  })

  it('adds at most a quarter by chance and never exceeds the longest delay by more', () => {
    expect(backoffMs(policy, 1, 0.999)).toBeLessThanOrEqual(6_250)
    expect(backoffMs(policy, 30, 0)).toBe(600_000)
  })

  it('waits for the time the provider named when that is later', () => {
    const retryAt = new Date(now + 90_000)
    expect(decide({ category: 'rate_limited', retryAt }).resumeAt).toEqual(retryAt)
  })

  it('parks at a usage limit until its reset without costing a try', () => {
    const retryAt = new Date(now + 3_600_000)
    expect(decide({ category: 'usage_limit', retryAt }, { attempts: 2 })).toMatchObject({
      move: 'park',
      reason: { kind: 'usage_limit' },
      resumeAt: retryAt,
      attempts: 2,
    })
  })

  it('tries again soon when the reset has just passed, and after longer and longer waits when that is long ago, up to its windows', () => {
    const justNow = decide({ category: 'usage_limit', retryAt: new Date(now - 1_000) }, { attempts: 2 })
    expect(justNow).toMatchObject({
      move: 'park',
      reason: { kind: 'usage_limit' },
      resumeAt: new Date(now + policy.baseDelayMs),
      attempts: 2,
    })
    const longAgo = { category: 'usage_limit', retryAt: new Date(now - 3_600_000) } as const
    const waits = [1, 2, 3, 20].map((windows) => decide(longAgo, { attempts: 2, task: { ...plain, windows } }))
    expect(waits).toMatchObject(waits.map(() => ({ move: 'park', reason: { kind: 'backoff' }, attempts: 2 })))
    const waitsMs = waits.map(({ resumeAt }) => resumeAt!.getTime() - now)
    expect(waitsMs).toEqual([policy.baseDelayMs, policy.baseDelayMs * 2, policy.baseDelayMs * 4, 3_600_000])
    expect(decide(longAgo, { task: { ...plain, windows: 21 } })).toMatchObject({
      move: 'fail',
      reason: { kind: 'usage_limit', detail: expect.stringContaining('waited 20 times in a row') },
    })
  })

  it('runs a crashed agent again at once, then later and later, as often as its attempts allow', () => {
    const ten = { policy: { ...policy, attempts: 10 } }
    const crashes = Array.from({ length: 10 }, (_, attempts) => decide({ category: 'crashed' }, { ...ten, attempts }))
    expect(crashes.map(({ move }) => move)).toEqual(['give_back', ...Array(8).fill('park'), 'fail'])
    expect(crashes.slice(1, 4).map(({ resumeAt }) => resumeAt!.getTime() - now)).toEqual([10_000, 20_000, 40_000])
    expect(crashes[0]).toMatchObject({ event: { data: { why: 'retry' } }, attempts: 1 })
    expect(decide({ category: 'crashed' }, { policy: { ...policy, attempts: 1 } }).move).toBe('fail')
  })

  it('never retries a login that was refused', () => {
    expect(decide({ category: 'auth_failed' })).toMatchObject({
      move: 'fail',
      event: { type: 'task.failed', data: { category: 'auth_failed' } },
    })
  })

  it.each(Object.entries(firstTime) as [Category, MoveName][])('a first run that fails as %s leads to %s', (category, move) => {
    const settled = decide({ category, message: 'so it was' })
    expect([settled.move, settled.attempts]).toEqual([move, 1])
    const said: Partial<Record<MoveName, string>> = { give_back: 'task.requeued', park: 'task.parked', fail: 'task.failed' }
    expect(settled.event.type).toBe(said[move])
  })

  it.each(categoryNames)('a task that has failed as %s for the last time says so in its last event', (category) => {
    const settled = decide({ category, message: 'so it was' }, { attempts: policy.attempts })
    expect(settled).toMatchObject({
      move: 'fail',
      reason: { kind: category, detail: 'so it was' },
      event: { type: 'task.failed', data: { category, message: 'so it was' } },
    })
    const wordless = decide({ category }, { attempts: policy.attempts })
    expect(wordless.event.data).toMatchObject({ message: categories[category].says })
  })

  it.each(otherEnds)('a run that ends as %s says what kind of end that is', (outcome, category, event) => {
    const settled = decide({ outcome, category, message: 'so it was' }, { questionId: 'q_1', cancelledBy: 'ann' })
    expect(settled.event).toEqual(event)
  })

  it('what is run once fails as what it was, and is not tried again', () => {
    for (const category of categoryNames)
      expect(decide({ category }, { task: { ...plain, once: true } })).toMatchObject({
        move: 'fail',
        event: { data: { category } },
      })
  })

  it('asks once more for an answer that is empty if nothing was done, and not twice', () => {
    const nothing = { outcome: 'empty', category: 'empty_answer', didNothing: true } as const
    expect(decide(nothing)).toMatchObject({ move: 'give_back', event: { data: { why: 'retry' } }, attempts: 1 })
    const said = { kind: 'empty', detail: '(no response generated after retries)' }
    expect(decide(nothing, { attempts: 1 })).toMatchObject({ move: 'complete', reason: said })
    expect(decide(nothing, { policy: { ...policy, attempts: 1 } }).move).toBe('complete')
    expect(decide(nothing, { task: { ...plain, once: true } }).move).toBe('complete')
  })

  it('delivers an empty answer that tools stand behind as it is, also to whoever reviews it', () => {
    const worked = { outcome: 'empty', category: 'empty_answer', didNothing: false } as const
    const said = { kind: 'empty', detail: '(no response generated)' }
    expect(decide(worked)).toMatchObject({ move: 'complete', reason: said })
    expect(decide(worked, { task: { ...plain, review: true } })).toMatchObject({
      move: 'hold_for_review',
      reason: { kind: 'empty' },
    })
  })

  it('takes no try from a task that our own shutdown or a lost worker cut short', () => {
    expect(decide({ outcome: 'interrupted' }, { attempts: 2 })).toMatchObject({ move: 'give_back', attempts: 2 })
    expect(decide({ outcome: 'lost' }, { attempts: 2 })).toMatchObject({ move: 'give_back', attempts: 2 })
  })

  it('asks a person about a task whose worker has died twice while only it ran, and says what is known', () => {
    const suspectAfter = (...lostAlone: number[]) => ({
      ...plain,
      suspect: { since: new Date(now).toISOString(), worker: 'w_1', host: 'mars', lastedMs: 40_000, deaths: 2, lostAlone },
    })
    for (const lostAlone of [[], [1_000]])
      expect(decide({ outcome: 'lost' }, { task: suspectAfter(...lostAlone), attempts: 2 })).toMatchObject({
        move: 'give_back',
        attempts: 2,
        event: { type: 'task.requeued', data: { why: 'lost', detail: expect.stringMatching(/its worker died.*first 80 s/) } },
      })
    const held = decide({ outcome: 'lost' }, { task: suspectAfter(12_400, 40_000), attempts: 2 })
    expect(held).toMatchObject({
      move: 'block',
      attempts: 2,
      reason: { kind: 'worker_lost' },
      event: { type: 'task.blocked', data: { kind: 'worker_lost' } },
    })
    expect(held.reason!.detail).toBe(
      'The worker died 2 times while only this task ran, the last time on mars, after runs of 12 s and 40 s. "pawl logs t_1" shows what it did; "pawl retry t_1" runs it again, "pawl cancel t_1" ends it.',
    )
  })

  it('asks a person about a task that we could not start five times in a row, and never fails it', () => {
    const end = { outcome: 'interrupted', category: 'internal', message: 'No database.' } as const
    const task = { ...plain, hasStarted: false }
    expect(decide(end, { task, ownFailures: maxOwnFailures - 2 }).move).toBe('give_back')
    expect(decide(end, { task, ownFailures: maxOwnFailures - 1 })).toMatchObject({
      move: 'block',
      reason: { kind: 'interrupted', detail: expect.stringContaining('could not be started 5 times in a row: No database.') },
    })
  })

  it('completes an empty or partial answer and says so', () => {
    expect(decide({ outcome: 'empty' })).toMatchObject({ move: 'complete', reason: { kind: 'empty' } })
    expect(decide({ outcome: 'partial' })).toMatchObject({ move: 'complete', reason: { kind: 'partial' } })
  })
})
