import { expect, test } from 'vitest'
import { Usage } from '../../domain/money/usage.ts'
import { count } from './fields.ts'

test('a count that nobody can have counted is none, so that sums of counts can always be stored', () => {
  for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, '3', null])
    expect(count(wrong)).toBeUndefined()
  const most = count(1e12) ?? 0
  expect(Usage.parse({ outputTokens: most + most })).toMatchObject({ outputTokens: 2e12 })
})
