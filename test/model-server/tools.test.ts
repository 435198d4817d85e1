import { describe, expect, it } from 'vitest'
import type { OfferedTool } from './conversation.ts'
import type { ScriptedCall } from './scenario.ts'
import { callFor } from './tools.ts'

const offer = (...names: string[]): OfferedTool[] => names.map((name) => ({ name, kind: 'function' }))
const shell = { tool: 'shell', args: { command: 'ls' } } as const
const write = { tool: 'write', args: { path: 'a.txt', content: "it's" } } as const
const question: ScriptedCall = { tool: 'ask', args: { question: 'Which?', header: 'Pick', options: ['A', 'B'] } }
const choices = ['A', 'B'].map((label) => ({ label, description: `The answer ${label}` }))

describe('a scripted tool call', () => {
  it.each([
    ['anthropic', 'Bash', { command: 'ls', description: 'Scripted command' }],
    ['openai-responses', 'exec_command', { cmd: 'ls' }],
    ['openai-responses', 'shell_command', { command: 'ls' }],
    ['openai-responses', 'shell', { command: ['bash', '-lc', 'ls'] }],
    ['gemini', 'run_shell_command', { command: 'ls', description: 'Scripted command', is_background: false }],
    ['openai-chat', 'bash', { command: 'ls', description: 'Scripted command' }],
  ])('over %s uses the shell named %s when it is offered', (wire, name, args) => {
    expect(callFor(shell, offer('other', name), wire)).toEqual({ name, kind: 'function', args })
  })

  it('uses the built-in shell of the Responses format when that is what is offered', () => {
    const tools: OfferedTool[] = [{ name: 'local_shell', kind: 'local_shell' }]
    const args = { command: ['bash', '-lc', 'ls'], env: {} }
    expect(callFor(shell, tools, 'openai-responses')).toEqual({ name: 'local_shell', kind: 'local_shell', args })
  })

  it.each([
    ['Write', { file_path: 'a.txt', content: "it's" }],
    ['write_file', { file_path: 'a.txt', content: "it's" }],
    ['write', { filePath: 'a.txt', content: "it's" }],
    ['exec_command', { cmd: `printf %s 'it'\\''s' > 'a.txt'` }],
  ])('writes a file with %s', (name, args) => {
    expect(callFor(write, offer(name), 'any')).toEqual({ name, kind: 'function', args })
  })

  it.each([
    ['AskUserQuestion', { question: 'Which?', header: 'Pick', options: choices, multiSelect: false }],
    ['request_user_input', { id: 'question', question: 'Which?', header: 'Pick', options: choices }],
    ['ask_user', { question: 'Which?', header: 'Pick', type: 'choice', options: choices }],
    ['question', { question: 'Which?', header: 'Pick', options: choices }],
  ])('asks the user with %s', (name, asked) => {
    expect(callFor(question, offer(name), 'any')).toEqual({ name, kind: 'function', args: { questions: [asked] } })
  })

  it('takes the usual name of the format when no spelling is offered', () => {
    expect(callFor(shell, offer('other'), 'gemini').name).toBe('run_shell_command')
    expect(callFor(question, offer('other'), 'anthropic').name).toBe('AskUserQuestion')
  })

  it('finds an MCP tool under the name each program gives it', () => {
    const call = { tool: 'mcp:pawl/ask_user', args: { question: 'Which?' } }
    expect(callFor(call, offer('mcp_pawl_ask_user'), 'gemini').name).toBe('mcp_pawl_ask_user')
    expect(callFor(call, offer('pawl_ask_user'), 'openai-chat').name).toBe('pawl_ask_user')
    expect(callFor(call, offer('Bash'), 'anthropic').name).toBe('mcp__pawl__ask_user')
    const grouped: OfferedTool[] = [{ name: 'ask_user', namespace: 'mcp__pawl', kind: 'function' }]
    expect(callFor(call, grouped, 'openai-responses')).toMatchObject({ name: 'ask_user', namespace: 'mcp__pawl' })
  })

  it('passes a tool named outright through as it is', () => {
    const call = { tool: 'named:TodoWrite', args: { todos: [] } }
    expect(callFor(call, [], 'anthropic')).toEqual({ name: 'TodoWrite', kind: 'function', args: { todos: [] } })
  })
})
