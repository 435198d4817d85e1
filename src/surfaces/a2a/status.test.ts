import { expect, test } from 'vitest'
import { statusOf } from './status.ts'

test('a completed task that did only a part of its work says so, for which the protocol has no state', () => {
  const task = { id: 't_1', session: 's_1', state: 'completed', reason: null, updatedAt: '2026-01-01T00:00:00Z' }
  expect(statusOf(task as never).message).toBeUndefined()
  const short = statusOf({ ...task, reason: { kind: 'empty' } } as never)
  expect(JSON.stringify(short.message?.parts)).toContain('but the agent said nothing')
})
