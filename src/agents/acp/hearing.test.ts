import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/event/event.ts'
import { pieceChars } from '../shared/text.ts'
import { hear } from './hearing.ts'
import { createCostMeter } from './usage.ts'

test('a notice of any length is told in pieces of a bearable size', async () => {
  const { events, hearing } = listen()
  await hearing.updated({ sessionUpdate: 'notice', message: 'x'.repeat(3 * pieceChars) }, '{}')
  const texts = events.map(({ data }) => (data as { text: string }).text)
  expect(texts.map((text) => text.length)).toEqual([pieceChars, pieceChars, pieceChars])
})

test('a call that is over is told once, with what its terminal showed, whatever is said of it later', async () => {
  const { events, hearing } = listen()
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c-1', kind: 'execute', rawInput: { command: 'make' } }
  const content = [{ type: 'terminal', terminalId: 't-1' }]
  const output = { _meta: { terminal_output: { terminal_id: 't-1', data: 'made' } } }
  await hearing.updated(call, '{}')
  await hearing.updated({ ...output, sessionUpdate: 'tool_call_update', toolCallId: 'c-1', content }, '{}')
  for (const status of ['completed', 'failed'])
    await hearing.updated({ sessionUpdate: 'tool_call_update', toolCallId: 'c-1', status }, '{}')
  expect(events).toEqual([
    { type: 'agent.tool_called', data: { callId: 'c-1', tool: 'execute', input: { command: 'make' } } },
    { type: 'agent.tool_returned', data: { callId: 'c-1', output: 'made', isError: false } },
  ])
})

function listen() {
  const events: AgentEvent[] = []
  const turn = {
    prompt: '',
    signal: new AbortController().signal,
    ask: async () => undefined,
    permit: async () => ({ allow: true }) as const,
    emit: (event: AgentEvent) => void events.push(event),
  }
  return { events, hearing: hear(turn, { habits: { load: true }, cost: createCostMeter(), model: () => undefined }) }
}
