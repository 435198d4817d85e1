import { expect, test } from 'vitest'
import type { Utterance } from '../../domain/event/transcript.ts'
import { sessions } from './session-files.ts'

const vendorId = '11111111-1111-4111-8111-111111111111'
const at = '2026-11-15T12:00:00.000Z'
const rebuilt = (transcript: Utterance[]) => {
  const { path, content } = sessions.rebuild!(transcript, {
    vendorId,
    workspace: '/work_space/x.y',
    model: 'm',
    version: '2.1.325',
  })
  return {
    path,
    content,
    lines: content
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  }
}

test('an id never leads out of its folder', () => {
  expect(sessions.id.test(vendorId)).toBe(true)
  for (const id of ['../x', `${vendorId}/..`, '', '*', `x${vendorId}`]) expect(sessions.id.test(id)).toBe(false)
})

test('a conversation is looked for in its project first, and what belongs to it lies beside it', () => {
  expect(sessions.layouts(vendorId)).toEqual([`.claude/projects/*/${vendorId}.jsonl`, `.claude/sessions/${vendorId}.jsonl`])
  expect(sessions.beside!(`.claude/projects/-work/${vendorId}.jsonl`, vendorId)).toEqual([`.claude/projects/-work/${vendorId}`])
})

test('a rebuilt conversation is one unbroken chain of everything that was said and done', () => {
  const { path, lines } = rebuilt([
    { kind: 'user', text: 'Make it so.', at },
    { kind: 'agent', text: 'I look.', at },
    { kind: 'tool', callId: 'c/1', tool: 'Bash', input: { command: 'ls' }, output: 'a', isError: false, at },
    { kind: 'tool', callId: 'c/2', tool: 'run it', input: 'x', isError: false, at },
    { kind: 'agent', text: ' ', at },
  ])
  expect(path).toBe(`.claude/projects/-work-space-x-y/${vendorId}.jsonl`)
  expect(lines.map((line) => line.message)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Make it so.' }] },
    { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'I look.' }] },
    { role: 'assistant', model: 'm', content: [{ type: 'tool_use', id: 'toolu_2_c1', name: 'Bash', input: { command: 'ls' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2_c1', content: 'a', is_error: false }] },
    { role: 'assistant', model: 'm', content: [{ type: 'tool_use', id: 'toolu_3_c2', name: 'run_it', input: { input: 'x' } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_3_c2', content: expect.stringContaining('interrupted'), is_error: true },
      ],
    },
  ])
  expect(lines.map((line) => line.parentUuid)).toEqual([null, ...lines.slice(0, -1).map((line) => line.uuid)])
  expect(new Set(lines.map((line) => line.uuid)).size).toBe(lines.length)
  for (const line of lines) expect(line).toMatchObject({ type: line.message.role, timestamp: at, sessionId: vendorId })
})

test('rebuilt twice, it is the same file', () => {
  const transcript: Utterance[] = [{ kind: 'user', text: 'Make it so.', at }]
  expect(rebuilt(transcript).content).toBe(rebuilt(transcript).content)
})
