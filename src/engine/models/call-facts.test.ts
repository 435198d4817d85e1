import { expect, test } from 'vitest'
import type { Verdict } from '../../agents/port.ts'
import type { CallFacts } from '../../gateway/money/purse.ts'
import { createLastWord, withFacts } from './call-facts.ts'

const retryAt = new Date('2030-01-01T00:00:00Z')
const limit = { kind: 'usage_limit', message: 'The plan is used up.', retryAt } as const
const provider = { name: 'p', wire: 'anthropic', baseUrl: 'http://x', key: async () => undefined, account: 'p' } as const
const call = (number: number, facts: Partial<CallFacts> = {}): CallFacts => ({
  number,
  route: { model: 'm', provider, target: 'm' },
  asked: 'm',
  translated: false,
  streamed: true,
  startedAt: new Date(0),
  durationMs: 1,
  ...facts,
})
const failed: Verdict = { outcome: 'failed', category: 'exit_code', message: 'It ended with 1.', text: 'half' }

test('the last refusal counts until something that was asked later is served', () => {
  const word = createLastWord()
  expect(word.refusal).toBeUndefined()
  word.heard(call(1))
  word.heard(call(3, { refusal: limit }))
  expect(word.refusal).toBe(limit)
  // Asked before, over later: it says nothing of how things are now.
  word.heard(call(2))
  expect(word.refusal).toBe(limit)
  word.heard(call(4, { refusal: { kind: 'unavailable', message: 'gone' }, abandoned: true }))
  expect(word.refusal).toBe(limit)
  word.heard(call(5))
  expect(word.refusal).toBeUndefined()
})

test('a run that came to nothing has the kind and the time that the provider named', () => {
  expect(withFacts(failed, limit)).toEqual({
    outcome: 'failed',
    category: 'usage_limit',
    message: 'The plan is used up.',
    text: 'half',
    retryAt,
    isUnexplained: false,
  })
  expect(withFacts({ outcome: 'empty', text: '' }, limit)).toMatchObject({ outcome: 'failed', category: 'usage_limit' })
  expect(withFacts(failed, { kind: 'unauthorized', message: 'no' })).toMatchObject({ category: 'auth_failed' })
})

test('a run that came to something is what its agent says, and so is one whose program asked for nonsense', () => {
  const good: Verdict = { outcome: 'succeeded', text: 'done' }
  expect(withFacts(good, limit)).toBe(good)
  expect(withFacts(failed, { kind: 'invalid', message: 'no such field' })).toBe(failed)
  expect(withFacts(failed, undefined)).toBe(failed)
})
