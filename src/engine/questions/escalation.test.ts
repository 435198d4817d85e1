import { expect, it } from 'vitest'
import { answerFrom } from './escalation.ts'

it('takes an option in whatever marks it is written, and any other text as it is', () => {
  const options = ['Blue', 'Green']
  expect(answerFrom({ options }, '**Blue**.\nBecause.')).toBe('Blue')
  expect(answerFrom({ options }, 'Neither')).toBe('Neither')
  expect(answerFrom({ options }, '  ')).toBeUndefined()
})

it('reads a line of 60,000 marks at once', () => {
  const startedAt = performance.now()
  answerFrom({ options: ['Blue'] }, `x${"'".repeat(60_000)}y`)
  expect(performance.now() - startedAt).toBeLessThan(300)
})
