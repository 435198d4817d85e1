import { expect, test } from 'vitest'
import { createTextKeeper } from '../shared/text.ts'
import { readRetry, withoutNoise } from './complaints.ts'
import { shielded } from './prompt.ts'
import { calledTool } from './tools.ts'
import { judgeExit, judgeFailure, statusOf } from './verdict.ts'

const now = new Date('2026-11-15T12:00:00Z')
const exited = (code: number) => ({ code, signal: null })
const said = (text = '') => {
  const kept = createTextKeeper()
  kept.add(text)
  return kept
}
const categoryOf = (code: number, stderr = '') => judgeExit(exited(code), { text: '' }, said(stderr)).category

test.each([
  [173, 429],
  [145, 401],
  [144, 400],
  [244, 500],
  [247, 503],
  [17, 529],
  [139, undefined],
  [143, undefined],
  [7, undefined],
])('the exit code %i is the status %j of HTTP', (code, status) => {
  expect(statusOf(exited(code))).toBe(status)
})

test.each([
  [173, '', 'rate_limited'],
  [41, 'Please set an Auth method', 'auth_failed'],
  [42, 'Error resuming session: Invalid session identifier "9"', 'session_missing'],
  [42, 'No input provided', 'bad_config'],
  [53, 'Reached max session turns', 'max_turns'],
  [1, 'Unknown argument: frobnicate', 'bad_config'],
  [3, '', 'exit_code'],
  [139, '', 'crashed'],
])('exit code %i with %j is %s', (code, stderr, category) => {
  expect(categoryOf(code, stderr)).toBe(category)
})

test('an exit that looks good without a result is none: so it follows a signal', () => {
  expect(judgeExit(exited(0), { text: 'half' }, said())).toMatchObject({ outcome: 'failed', category: 'crashed', text: 'half' })
})

test.each([
  ['[API Error: {"error":{"code":401,"message":"invalid key","status":"UNAUTHENTICATED"}}]', 'auth_failed', 'invalid key'],
  [
    '[API Error: {"error":{"code":400,"message":"The input token count exceeds the maximum"}}]',
    'context_overflow',
    'The input token',
  ],
  ['[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]', 'auth_failed', 'API key'],
  ['[API Error: {"error":{"code":404,"message":"models/x is not found"}}]', 'bad_config', 'models/x'],
  ['[API Error: fetch failed]', 'network', 'fetch failed'],
  ['something else', 'exit_code', 'something else'],
])('%s is %s', (message, category, words) => {
  expect(judgeFailure({ message }, now)).toMatchObject({ category, message: expect.stringContaining(words) })
})

test('a limit with a time is waited for', () => {
  const failure = {
    message: '[API Error: Resource has been exhausted\nSuggested retry after 60s.]\nPlease wait and try again later.',
  }
  expect(judgeFailure(failure, now)).toMatchObject({ category: 'rate_limited', retryAt: new Date('2026-11-15T12:01:00Z') })
})

test.each([
  [
    'Attempt 1 failed: slow down\nSuggested retry after 1s.. Retrying after 5805ms...',
    { attempt: 1, delayMs: 5805, said: 'slow down\nSuggested retry after 1s.' },
  ],
  ['Attempt 2 failed with status 500. Retrying with backoff... _ApiError', { attempt: 2, status: 500, said: 'status 500' }],
  ['Attempt 3 failed: over. Max attempts reached', undefined],
])('%j tells of a retry: %j', (line, retry) => {
  expect(readRetry(line)).toEqual(retry)
})

test('what it prints at every start is no complaint', () => {
  expect(withoutNoise('YOLO mode is enabled. All tool calls\n[STARTUP] Phase x\nReal trouble\n')).toBe('Real trouble\n')
})

test('a prompt that begins like a command of the program reaches the model', () => {
  expect(shielded('/memory show')).toBe('The message is:\n\n/memory show')
  expect(shielded('  $skill')).toContain('The message is:')
  expect(shielded('plain / text')).toBe('plain / text')
})

test.each([
  [
    { toolCallId: 'run_shell_command__call_1', title: 'git push' },
    { name: 'run_shell_command', input: { command: 'git push' } },
  ],
  [
    { toolCallId: 'write_file-17', title: 'Writing', locations: [{ path: '/w/a' }] },
    { name: 'write_file', input: { file_path: '/w/a' } },
  ],
  [
    { toolCallId: 'replace__1', title: 'a', content: [{ type: 'diff', path: '/w/b' }] },
    { name: 'replace', input: { file_path: '/w/b' } },
  ],
  [
    { toolCallId: 'mcp_pawl_send_message__call_2', title: 'x' },
    { name: 'mcp__pawl__send_message', input: { title: 'x' } },
  ],
  [
    { toolCallId: 'mcp_pawl_ask_person__call_3', title: 'x' },
    { name: 'mcp__pawl__ask_user', input: { title: 'x' } },
  ],
  [{ toolCallId: 'toolu_1', title: 'x' }, undefined],
])('the call %j is known by its id', (call, tool) => {
  expect(calledTool(call)).toEqual(tool)
})
