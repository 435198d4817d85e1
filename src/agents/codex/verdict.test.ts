import { expect, test } from 'vitest'
import { createTextKeeper } from '../shared/text.ts'
import { judgeExit, judgeFailure } from './verdict.ts'

const facts = { text: '' }
const now = new Date('2026-01-02T03:04:05Z')

test.each([
  ['usageLimitExceeded', 'usage_limit'],
  ['contextWindowExceeded', 'context_overflow'],
  ['unauthorized', 'auth_failed'],
  ['sandboxError', 'sandbox_error'],
  [{ httpConnectionFailed: { httpStatusCode: 403 } }, 'auth_failed'],
  [{ httpConnectionFailed: { httpStatusCode: null } }, 'network'],
  [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, 'rate_limited'],
  [{ responseStreamDisconnected: { httpStatusCode: 502 } }, 'network'],
  [{ responseStreamDisconnected: { httpStatusCode: 529 } }, 'overloaded'],
] as const)('the structured cause %o outranks the words', (info, category) => {
  expect(judgeFailure({ message: 'Missing environment variable: X', info }, facts, now)).toMatchObject({
    outcome: 'failed',
    category,
  })
})

test.each([
  ['constructor', 'auth_failed'],
  [{ aNewKind: { httpStatusCode: 'x' } }, 'auth_failed'],
  [null, 'auth_failed'],
] as const)('with the unknown cause %o the words decide', (info, category) => {
  expect(judgeFailure({ message: 'Missing environment variable: X', info }, facts, now).category).toBe(category)
})

test.each([
  ['{"error":{"message":"too long","code":"context_length_exceeded"}}', 'context_overflow', 'too long'],
  ['{"error":{"message":"bad"}}', 'exit_code', 'bad'],
  ['{"error', 'exit_code', '{"error'],
  ['a tool printed: no rollout found for thread id x', 'exit_code', 'a tool printed: no rollout found for thread id x'],
  ['unexpected status 404 Not Found: nothing', 'bad_config', 'unexpected status 404 Not Found: nothing'],
  ['failed to read thread: rollout at x is empty', 'session_missing', 'failed to read thread: rollout at x is empty'],
])('%s is understood as what it says at its beginning', (message, category, told) => {
  expect(judgeFailure({ message, info: 'other' }, facts, now)).toMatchObject({ category, message: told })
})

test('the time at which a limit ends comes from the account first, then from the words', () => {
  const resetsAt = new Date('2026-01-03T00:00:00Z')
  const failure = { message: 'rate limit exceeded: Please try again in 20s.', info: 'usageLimitExceeded' }
  expect(judgeFailure({ ...failure, resetsAt }, facts, now).retryAt).toEqual(resetsAt)
  expect(judgeFailure({ ...failure, info: 'rateLimitExceeded', resetsAt }, facts, now).retryAt).toEqual(
    new Date(now.getTime() + 20_000),
  )
  expect(judgeFailure({ message: 'Quota exceeded.', info: 'usageLimitExceeded' }, facts, now)).not.toHaveProperty('retryAt')
})

test('what the program complained of before it began is the reason', () => {
  const judge = (stderr: string) => {
    const keeper = createTextKeeper()
    keeper.add(stderr)
    return judgeExit({ code: 1, signal: null }, facts, keeper)
  }
  const gone = 'Error: thread/resume: thread/resume failed: no rollout found for thread id x (code -32600)\n'
  expect(judge(`WARNING: something\n${gone}`)).toMatchObject({ category: 'session_missing' })
  expect(judge('Error: thread/resume: thread/resume failed: failed to read thread: it is empty (code -32603)\n')).toMatchObject({
    category: 'session_missing',
  })
  expect(judge(`my tool said: ${gone}`)).toMatchObject({ category: 'exit_code' })
  expect(judge("error: unexpected argument '--x' found\n\nFor more information, try '--help'.\n")).toMatchObject({
    category: 'bad_config',
    message: "Exit code 1: unexpected argument '--x' found",
  })
})
