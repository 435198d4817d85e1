import { expect, test } from 'vitest'
import { Result } from './result.ts'
import { failureOf, judgeResult } from './verdict.ts'

const now = new Date('2026-11-15T12:00:00Z')
const failed = (fields: object) => Result.parse({ subtype: 'success', is_error: true, ...fields })
const good = (fields: object) => Result.parse({ subtype: 'success', is_error: false, ...fields })
const judged = (result: Result, more: object = {}) =>
  judgeResult(
    { result, spoken: '', session: undefined, costUsd: undefined, asked: false, resetsAt: undefined, isReusable: true, ...more },
    now,
  )

test.each([
  ['a status outranks words', { api_error_status: 401, result: 'Prompt is too long' }, 'auth_failed'],
  ['a named error outranks a status', { api_error: 'connection_failed', api_error_status: 400 }, 'network'],
  ['a refused request is a matter of configuration', { api_error_status: 400, result: 'temperature must be 1' }, 'bad_config'],
  ['a word in the middle decides nothing', { result: 'I generate a strategy; Invalid API key · see 429' }, 'crashed'],
  ['an API error of no known kind is the network', { terminal_reason: 'api_error', result: 'API Error: strange' }, 'network'],
  ['a subtype of tomorrow is a crash', { subtype: 'error_of_tomorrow', errors: ['what is this'] }, 'crashed'],
  ['a name that every object has is no kind', { subtype: 'constructor', terminal_reason: 'toString' }, 'crashed'],
] as const)('%s', (_, fields, category) => {
  expect(failureOf(failed(fields), undefined, now).category).toBe(category)
})

test('a limit is waited for only if its end is known and lies ahead', () => {
  const limit = failed({ api_error: 'usage_limit_reached', api_error_status: 429, result: "You've hit your limit" })
  const ahead = new Date('2026-11-15T14:00:00Z')
  expect(failureOf(limit, ahead, now)).toMatchObject({ category: 'usage_limit', retryAt: ahead })
  const passed = new Date(now.getTime() - 1_000)
  expect(failureOf(limit, passed, now)).toMatchObject({ category: 'usage_limit', retryAt: passed })
  expect(failureOf(limit, new Date('2026-11-15T11:00:00Z'), now)).toEqual({
    category: 'rate_limited',
    message: "You've hit your limit",
  })
  const told = failed({ api_error_status: 429, result: "You've hit your weekly limit · resets Nov 18, 5pm (UTC)" })
  expect(failureOf(told, undefined, now)).toMatchObject({ category: 'usage_limit', retryAt: new Date('2026-11-18T17:00:00Z') })
})

test('the result is the answer; what was said on the way stands in when it is empty', () => {
  expect(judged(good({ result: 'the answer' }), { spoken: 'let me see\nthe answer\n' }).text).toBe('the answer')
  expect(judged(good({ result: ' ' }), { spoken: 'let me see\n' })).toMatchObject({ outcome: 'succeeded', text: 'let me see' })
  expect(judged(good({ result: '', structured_output: { a: 1 } })).text).toBe('{"a":1}')
  expect(judged(good({ result: '' }))).toMatchObject({
    outcome: 'empty',
    category: 'empty_answer',
    message: 'It ended well but said nothing.',
  })
})

test('an error is never the answer, and what was said before it is kept', () => {
  const verdict = judged(failed({ result: 'API Error: 529 Overloaded', api_error_status: 529 }), { spoken: 'half of it\n' })
  expect(verdict).toMatchObject({
    outcome: 'failed',
    category: 'overloaded',
    text: 'half of it',
    message: 'API Error: 529 Overloaded',
  })
})

test('a failure that nobody explains says so, and one of a known kind does not', () => {
  expect(judged(failed({ subtype: 'error_during_execution', errors: ['[ede_diagnostic] x'] }))).toMatchObject({
    isUnexplained: true,
  })
  expect(judged(failed({ result: 'API Error: strange' })).isUnexplained).toBeUndefined()
  expect(judged(failed({ subtype: 'error_max_turns' })).isUnexplained).toBeUndefined()
})
