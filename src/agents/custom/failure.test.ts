import { describe, expect, test } from 'vitest'
import type { Verdict } from '../port.ts'
import { explained } from './failure.ts'
import { CustomOptions } from './options.ts'

const now = new Date('2026-11-19T12:00:00Z')
const failed: Verdict = { outcome: 'failed', category: 'exit_code', message: 'Exit code 1: as it was', text: '' }
const explain = (stderr: string, { answer = '', exitCode = 1, ...options }: Record<string, unknown> = {}) =>
  explained(
    failed,
    { stderr, answer: String(answer), exitCode: Number(exitCode) },
    CustomOptions.parse({ command: ['agent'], ...options }),
    now,
  )
const categoryOf = (line: string) => explain(line).category

describe('the last lines of a plain program that failed', () => {
  test.each([
    'HTTP 429 rate limited',
    'Error: 429 Too Many Requests',
    'curl: (22) The requested URL returned error: 429',
    'Error: Request failed with status code 429',
    'requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.example',
    "httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'https://api.example'",
    "openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down'}}",
    '2026-11-19 12:00:00,123 ERROR agent.llm: Rate limit exceeded',
    '{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}',
    '\u001b[31mError: rate limit reached for the model\u001b[0m',
    "You've hit your limit",
    'Daily quota exceeded',
    'ThrottlingException: Rate exceeded',
  ])('say that a limit is met: %s', (line) => {
    expect(explain(line)).toMatchObject({ category: 'rate_limited' })
    expect(explain(line).retryAt).toBeUndefined()
  })

  test.each([
    ['HTTP 429 rate limited, try again in 2 seconds', '2026-11-19T12:00:02.000Z'],
    ['HTTP/1.1 429 Too Many Requests\nRetry-After: 20', '2026-11-19T12:00:20.000Z'],
    ['retry-after: 20\nerror: 429 Too Many Requests', '2026-11-19T12:00:20.000Z'],
    ['2026-11-19 12:00:00 ERROR rate limit reached, please try again in 6m0s', '2026-11-19T12:06:00.000Z'],
    ["You've hit your weekly limit · resets Nov 25, 3pm (Europe/Berlin)", '2026-11-25T14:00:00.000Z'],
    ['Claude AI usage limit reached|1795200000', '2026-11-20T18:40:00.000Z'],
    ['usage limit reached, resets at 3pm (UTC)', '2026-11-19T15:00:00.000Z'],
  ])('name when the limit ends: %s', (lines, end) => {
    expect(explain(lines)).toMatchObject({ category: 'usage_limit', retryAt: new Date(end) })
  })

  test.each([
    'HTTP 401',
    '401 Unauthorized',
    'error: Authentication failed',
    'Invalid API key · Please run /login',
    'Error: OPENAI_API_KEY is not set',
    'You are not logged in',
    'anthropic.AuthenticationError: Error code: 401',
    'HTTP 403 Forbidden',
    'Your credit balance is too low to use the API',
    "Error code: 429 - {'error': {'message': 'no more', 'type': 'insufficient_quota'}}",
  ])('say that a login is needed, and the sentence says what to do: %s', (line) => {
    expect(explain(line)).toMatchObject({
      category: 'auth_failed',
      message: expect.stringMatching(/ Fix: log in with agent once in a terminal, or give it its key .*; then retry the task\.$/),
    })
    expect(explain(line, { keys: ['A_KEY', 'B_KEY'] }).message).toContain('or set A_KEY or B_KEY for Pawl')
  })

  test.each([
    'Error: connect ECONNREFUSED 127.0.0.1:443',
    'Error: getaddrinfo ENOTFOUND api.example',
    'curl: (6) Could not resolve host: api.example',
    'TypeError: fetch failed',
    'dial tcp: lookup api.example: no such host',
    'requests.exceptions.ConnectionError: HTTPSConnectionPool: Max retries exceeded',
    'HTTP 502 Bad Gateway',
    'openai.APIConnectionError: Connection error.',
  ])('say that the network failed: %s', (line) => expect(categoryOf(line)).toBe('network'))

  test.each([
    'HTTP 529',
    '503 Service Unavailable',
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'The model is overloaded. Please try again later.',
  ])('say that the provider is overloaded: %s', (line) => expect(categoryOf(line)).toBe('overloaded'))

  test.each([
    'Prompt is too long',
    'prompt is too long: 210000 tokens > 200000 maximum',
    "openai.BadRequestError: Error code: 400 - {'error': {'message': \"This model's maximum context length is 128000 tokens.\"}}",
    'Your input exceeds the context window of this model',
    'HTTP 413 Payload Too Large',
  ])('say that the conversation is too long: %s', (line) => expect(categoryOf(line)).toBe('context_overflow'))

  test.each([
    'disk full',
    '429',
    'Error: expected 429 but got 200',
    'found 429 files',
    'error: 401 files could not be formatted',
    'error: 503 tests failed',
    'Rate limiting was added to the API',
    'EACCES: permission denied',
    'PermissionError: [Errno 13] Permission denied',
    'FAIL test/auth.test.ts',
    'the request took 503 ms',
    'session: saved',
  ])('are about something else: %s', (line) => expect(explain(line)).toEqual(failed))

  test('count from the last one up, stderr before the answer, and only near the end', () => {
    expect(categoryOf('HTTP 429\nHTTP 401 Unauthorized')).toBe('auth_failed')
    expect(explain('HTTP 401', { answer: 'HTTP 429' }).category).toBe('auth_failed')
    expect(explain('', { answer: 'half\nHTTP 429' }).category).toBe('rate_limited')
    expect(explain('', { answer: `HTTP 429\n${'the answer goes on\n'.repeat(4)}` })).toEqual(failed)
    expect(explain(`HTTP 429, trying again\n${'    at a line of a stack\n'.repeat(20)}`)).toEqual(failed)
  })

  test('say of exit code 127 that a program is missing, and how it is installed', () => {
    const said = explain('sh: 1: agent: not found', { exitCode: 127, install: 'npm install -g agent' })
    expect(said).toMatchObject({ category: 'binary_missing', message: expect.stringContaining('npm install -g agent') })
    expect(explain('sh: 1: agent: not found')).toEqual(failed)
  })

  test('take a moment, however they are made', () => {
    explain('disk full')
    const began = performance.now()
    for (const part of ['a: ', 'the api model ', '"message":', '429 ', '[', 'error '])
      explain(part.repeat(2_000).concat('\n').repeat(30))
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

describe('patterns of the settings', () => {
  test('come first, anywhere in a line, and a group names when a limit ends', () => {
    const failurePatterns = {
      usage_limit: ['out of gas until (.+), sorry'],
      auth_failed: ['^who goes there'],
      exit_code: ['^HTTP 429 of the test server'],
    }
    expect(explain('we are OUT OF GAS until 2026-11-19T13:00:00Z, sorry', { failurePatterns })).toMatchObject({
      category: 'usage_limit',
      retryAt: new Date('2026-11-19T13:00:00Z'),
    })
    expect(explain('who goes there?', { failurePatterns })).toMatchObject({ category: 'auth_failed' })
    expect(explain('HTTP 429 of the test server', { failurePatterns })).toEqual(failed)
    expect(explain('HTTP 429', { failurePatterns }).category).toBe('rate_limited')
  })

  test('are refused where they name no known cause, or cannot be matched in linear time', () => {
    const read = (failurePatterns: object) => CustomOptions.safeParse({ command: ['x'], failurePatterns })
    expect(read({ network: ['^down'] }).success).toBe(true)
    expect(read({ weather: ['^rain'] }).error?.message).toContain('weather')
    expect(read({ network: ['(?=down)'] }).error?.message).toContain('looks ahead or behind')
    expect(read({ network: [] }).success).toBe(false)
    expect(read({ usage_limit: ['(a) (b)'] }).error?.message).toContain('one group')
  })
})
