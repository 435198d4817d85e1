import { describe, expect, it } from 'vitest'
import { type Category, categories } from '../domain/outcome.ts'
import { backoffMs, type Ended, maxLossesInARow, settle } from './retry.ts'

const policy = { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 }
const now = Date.UTC(2030, 0, 1)
const plain = {
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
    lossesInARow: 0,
    policy,
    nowMs: now,
    chance: 0,
    ...more,
  })

describe('settle', () => {
  it('waits 5 s after the first try and 10 s after the second, and then gives up', () => {
    const delays = [0, 1].map((attempts) => decide({ category: 'overloaded' }, { attempts }).resumeAt!.getTime() - now)
    expect(delays).toEqual([5_000, 10_000])
    expect(decide({ category: 'overloaded' }, { attempts: 2 })).toMatchObject({ move: 'fail', reason: { kind: 'overloaded' } })
  })

  it('begins what is to be run once no second time, also if Pawl itself was stopped; what nobody has taken was not begun', () => {
    const once = { ...plain, once: true }
    expect(decide({ outcome: 'interrupted' }, { task: once })).toMatchObject({ move: 'fail', reason: { kind: 'crashed' } })
    expect(decide({ outcome: 'interrupted' }, { task: { ...once, untaken: true } })).toMatchObject({ move: 'give_back' })
    expect(decide({ outcome: 'interrupted' })).toMatchObject({ move: 'give_back' })
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

  it('goes on with the conversation of a crashed agent as often as tries are left', () => {
    expect(decide({ category: 'crashed', canResume: true }, { attempts: 1 })).toMatchObject({ move: 'give_back', attempts: 2 })
    expect(decide({ category: 'crashed', canResume: true }, { attempts: 2 }).move).toBe('fail')
  })

  it('runs a crashed agent that remembers nothing once more and not twice', () => {
    expect(decide({ category: 'crashed' })).toMatchObject({ move: 'give_back', event: { data: { why: 'retry' } }, attempts: 1 })
    expect(decide({ category: 'crashed' }, { attempts: 1 }).move).toBe('fail')
  })

  it('never retries a login that was refused', () => {
    expect(decide({ category: 'auth_failed' })).toMatchObject({
      move: 'fail',
      event: { type: 'task.failed', data: { category: 'auth_failed' } },
    })
  })

  it('follows the table of categories for every one of them', () => {
    for (const [name, rule] of Object.entries(categories)) {
      const { move } = decide({ category: name as Category })
      const expected = { never: 'fail', once: 'give_back', resume: 'give_back', backoff: 'park', park: 'park', checks: 'fail' }[
        rule.retry
      ]
      expect([name, move]).toEqual([name, expected])
    }
  })

  it('takes no try from a task that our own shutdown or a lost worker cut short', () => {
    expect(decide({ outcome: 'interrupted' }, { attempts: 2 })).toMatchObject({ move: 'give_back', attempts: 2 })
    expect(decide({ outcome: 'lost' }, { attempts: 2 })).toMatchObject({ move: 'give_back', attempts: 2 })
  })

  it('stops giving back a task that has taken its worker down too often', () => {
    expect(decide({ outcome: 'lost' }, { lossesInARow: maxLossesInARow - 1 })).toMatchObject({
      move: 'fail',
      reason: { kind: 'crashed' },
    })
  })

  it('completes an empty or partial answer and says so', () => {
    expect(decide({ outcome: 'empty' })).toMatchObject({ move: 'complete', reason: { kind: 'empty' } })
    expect(decide({ outcome: 'partial' })).toMatchObject({ move: 'complete', reason: { kind: 'partial' } })
  })
})
