import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { backoffMs, longestBackoffMs } from './backoff.ts'
import { bounded } from './bounded.ts'
import { messageOf } from './message.ts'
import { signedHeaders } from './sign.ts'
import { toTell } from './write.ts'

describe('the wait for the next try', () => {
  it('doubles, is spread over its half, and ends at six hours', () => {
    expect([1, 2, 3, 10].map((tries) => backoffMs(tries, 1))).toEqual([10_000, 20_000, 40_000, 5_120_000])
    expect([1, 2, 3].map((tries) => backoffMs(tries, 0))).toEqual([5_000, 10_000, 20_000])
    expect(backoffMs(50, 1)).toBe(longestBackoffMs)
  })
  it('adds up to nearly a day in the usual number of tries', () => {
    const all = Array.from({ length: 14 }, (_, index) => backoffMs(index + 1, 0.5)).reduce((sum, ms) => sum + ms, 0)
    expect(all / 3_600_000).toBeGreaterThan(15)
    expect(all / 3_600_000).toBeLessThan(24)
  })
})

describe('a signature', () => {
  const message = { id: 'n_1', nowMs: 1_700_000_000_999, body: '{"a":1}' }
  const macOf = (key: Buffer) => `v1,${createHmac('sha256', key).update('n_1.1700000000.{"a":1}').digest('base64')}`

  it('is over id, time and body, with the text of the secret as its key', () => {
    expect(signedHeaders('plain text', message)).toEqual({
      'webhook-id': 'n_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': macOf(Buffer.from('plain text')),
    })
  })
  it('takes what whsec_ stands before as base64', () => {
    const key = Buffer.from('twenty four bytes of key')
    expect(signedHeaders(`whsec_${key.toString('base64')}`, message)['webhook-signature']).toBe(macOf(key))
  })
})

describe('what is told', () => {
  it('is not that a task waits for its own subtasks or a moment for others: it goes on by itself', () => {
    const way = { kind: 'webhook', url: 'https://ops.example', secret: { env: 'OPS' }, allowPrivate: false } as const
    const ops = { name: 'ops', events: ['task.blocked', 'task.parked'], attempts: 1, way } as const
    const told = (event: Parameters<typeof toTell>[0]['event']) => toTell({ task: 't_1', at: new Date(0), event }, ops).length
    const until = new Date(0).toISOString()
    expect(told({ type: 'task.blocked', data: { kind: 'no_progress' } })).toBe(1)
    expect(told({ type: 'task.blocked', data: { kind: 'subtasks' } })).toBe(0)
    expect(told({ type: 'task.parked', data: { kind: 'usage_limit', until } })).toBe(1)
    expect(told({ type: 'task.parked', data: { kind: 'staggered', until } })).toBe(0)
  })
  it('has a bound, whatever an agent asked', () => {
    const data = bounded({
      text: 'x'.repeat(10_000),
      options: Array.from({ length: 200 }, () => 'y'.repeat(10)),
      deep: { a: ['z'.repeat(5_000)] },
    })
    expect((data.text as string).length).toBe(4_001)
    expect(data.options).toHaveLength(50)
    expect(bounded({ options: Array.from({ length: 50 }, () => 'y'.repeat(4_000)) })).toEqual({ cut: true })
    expect(bounded({ verified: true, n: null })).toEqual({ verified: true, n: null })
  })
  it('begins with a sentence for people', () => {
    const task = {
      id: 't_1',
      name: 'fix it',
      state: 'failed' as const,
      agent: 'a',
      tags: [],
      workspace: '/w',
      session: 's',
      parent: null,
      prompt: '',
      result: null,
    }
    const row = {
      ...({ id: 'n_1', no: 1, target: 'ops', kind: 'webhook', task_id: 't_1', run_id: null, state: 'pending' } as const),
      ...{ attempts: 0, next_at: new Date(0), claimed_by: null, last_error: null, created_at: new Date(0), sent_at: null },
    }
    const told = (event: 'task.failed' | 'task.blocked', data: Record<string, unknown>, question: string | null = null) =>
      messageOf({
        ...row,
        event,
        body: {
          data,
          task,
          question: question === null ? null : { id: 'q', text: question, options: [] },
        },
      }).text
    expect(told('task.failed', { category: 'crashed', message: 'It was\nkilled.' })).toBe(
      'Task fix it (t_1) failed: crashed: It was killed.',
    )
    expect(told('task.blocked', { kind: 'question' }, 'Which one?')).toBe('Task fix it (t_1) asks: Which one?')
    expect(told('task.blocked', { kind: 'question' }, 'Delete \u202egpj.exe\u202c\u001b[2J?')).toBe(
      'Task fix it (t_1) asks: Delete <U+202E>gpj.exe<U+202C><U+001B>[2J?',
    )
    expect(told('task.blocked', { kind: 'no_progress' })).toBe(
      'Task fix it (t_1) waits for something only others can give: no_progress.',
    )
  })
})
