import { expect, test } from 'vitest'
import { sessionFiles } from './session-files.ts'

const vendorId = '33333333-3333-4333-8333-333333333333'
const at = '2026-11-15T10:00:00.000Z'

test('a conversation is rebuilt in the form of the program, with each return beside its call', () => {
  const { path, content } = sessionFiles.rebuild!(
    [
      { kind: 'user', text: 'first', at },
      { kind: 'tool', callId: 'c1', tool: 'run_shell_command', input: { command: 'ls' }, output: 'a.txt', isError: false, at },
      { kind: 'tool', callId: 'c2', tool: 'weird tool!', input: 'x', isError: false, at },
      { kind: 'agent', text: 'done', at },
      { kind: 'agent', text: ' ', at },
    ],
    { vendorId, workspace: '/workspace' },
  )
  expect(path).toBe('.gemini/tmp/pawl/chats/session-2026-11-15T10-00-33333333.jsonl')
  const [head, ...messages] = content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(head).toMatchObject({ sessionId: vendorId, kind: 'main', projectHash: 'pawl', startTime: at })
  expect(messages).toMatchObject([
    { type: 'user', content: [{ text: 'first' }] },
    { type: 'gemini', toolCalls: [{ name: 'run_shell_command', args: { command: 'ls' } }] },
    { type: 'gemini', toolCalls: [{ name: 'weird_tool_', args: { input: 'x' } }] },
    { type: 'gemini', content: 'done' },
  ])
  const responses = messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call: { result: unknown }) => call.result))
  expect(responses).toMatchObject([
    [{ functionResponse: { response: { output: 'a.txt' } } }],
    [{ functionResponse: { response: { error: expect.stringContaining('interrupted') } } }],
  ])
})

test('the file of a conversation is found by the beginning of its id, and what belongs to it beside it', () => {
  expect(sessionFiles.layouts(vendorId)[0]).toBe('.gemini/tmp/pawl/chats/session-*33333333.jsonl')
  expect(sessionFiles.beside!('.gemini/tmp/pawl/chats/session-x-33333333.jsonl', vendorId)).toEqual([
    `.gemini/tmp/pawl/tool-outputs/session-${vendorId}`,
  ])
})
