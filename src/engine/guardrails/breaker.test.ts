import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/event/event.ts'
import { noUsage } from '../../domain/money/cost.ts'
import { defaultGuardrails, guardrailsFor } from '../../domain/run/guardrails.ts'
import { type Alarm, createBreaker } from './breaker.ts'
import { normalised } from './normalise.ts'

let number = 0
const call = (tool: string, input: unknown = {}, callId = `c${++number}`): AgentEvent => ({
  type: 'agent.tool_called',
  data: { callId, tool, input },
})
const returns = (callId: string, output: string, isError: boolean): AgentEvent => ({
  type: 'agent.tool_returned',
  data: { callId, output, isError },
})
const uses = (tool: string, output: string, isError = false): AgentEvent[] => {
  const callId = `c${++number}`
  return [call(tool, { number }, callId), returns(callId, output, isError)]
}
const says = (text: string): AgentEvent => ({ type: 'agent.message', data: { text } })
const thinks: AgentEvent = { type: 'agent.thinking', data: { text: 'hm' } }
const used = (model?: string): AgentEvent => ({
  type: 'agent.usage',
  data: { usage: { ...noUsage, inputTokens: 1, turns: 1 }, ...(model === undefined ? {} : { model }) },
})
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

function alarmsOf(events: readonly AgentEvent[], limits = defaultGuardrails): Alarm[] {
  const breaker = createBreaker(() => limits)
  return events.flatMap((event) => breaker.saw(event) ?? [])
}
const trips = (events: readonly AgentEvent[], limits = defaultGuardrails) =>
  alarmsOf(events, limits).flatMap((alarm) => (alarm.kind === 'trip' ? [alarm.message] : []))

test('the fifth time that a tool fails with the same error is the last, whatever ids and times the error has', () => {
  const failing = (count: number) =>
    times(count, (index) =>
      uses('Bash', `ENOENT: /tmp/x-${index}/a at 12:0${index}:11 (request req_0${index}abcdef12)`, true),
    ).flat()
  expect(trips(failing(4))).toEqual([])
  expect(trips(failing(5))).toEqual([expect.stringMatching(/Bash failed 5 times in a row with the same error: ENOENT: <temp>/)])
})

test('another tool, another error, or something that succeeds in between begins the count anew', () => {
  const fails = (tool: string, error: string) => uses(tool, error, true)
  expect(trips(times(10, (index) => fails(index % 2 ? 'Bash' : 'Edit', 'no')).flat())).toEqual([])
  expect(trips(times(10, (index) => fails('Bash', index % 2 ? 'no such file' : 'not allowed')).flat())).toEqual([])
  expect(trips(times(10, () => [...fails('Bash', '3 tests failed'), ...uses('Edit', 'done')]).flat())).toEqual([])
})

test('calls that were made at once count as one failure: the agent could not learn from the first', () => {
  const ids = times(8, (index) => `p${index}`)
  const together = [...ids.map((id, n) => call('Bash', { n }, id)), ...ids.map((id) => returns(id, 'not allowed', true))]
  expect(trips(together)).toEqual([])
})

test('the same call five times in a row trips, in whatever order its input is written', () => {
  const again = (index: number) => call('Read', index % 2 ? { path: 'a', from: 1 } : { from: 1, path: 'a' })
  expect(trips(times(4, again))).toEqual([])
  expect(trips(times(5, again))).toEqual([expect.stringContaining('the same call of Read 5 times in a row')])
  expect(trips(times(20, (index) => call('Read', { path: `${index % 2}` })))).toEqual([])
})

test('starting subagents and waiting for a command may be repeated', () => {
  for (const tool of ['Task', 'agents.spawn', 'BashOutput', 'wait'])
    expect(trips(times(20, () => call(tool, { a: 1 })))).toEqual([])
})

test('five turns without a word and without a tool trip; thinking is no word', () => {
  const silent = (count: number) => times(count, () => [used(), thinks]).flat()
  expect(trips([...silent(5), says('here')])).toEqual([])
  expect(trips([...silent(5), used()])).toEqual([expect.stringContaining('5 turns in a row without a word')])
  expect(trips(times(10, (index) => [used(), ...(index % 4 === 3 ? [says('x')] : [])]).flat())).toEqual([])
})

test('three turns that only keep a list are told of once, and stop nothing', () => {
  const list = (count: number) => times(count, () => uses('TodoWrite', 'ok')).flat()
  expect(alarmsOf([...list(3), ...uses('Bash', 'x')])).toEqual([
    { kind: 'warning', code: 'todo_only', detail: expect.stringContaining('3 turns in a row') },
  ])
  expect(alarmsOf([...list(2), says('and now'), ...list(2), ...uses('Bash', 'x')])).toEqual([])
  const breaker = createBreaker(() => defaultGuardrails)
  for (const event of [...list(3), ...uses('Bash', 'x')]) breaker.saw(event)
  expect(breaker).toMatchObject({ turns: 4, todoCalls: 3 })
})

test('0 switches a guardrail off, and a model has numbers of its own as soon as it is known', () => {
  const failing = times(9, () => uses('Bash', 'no', true)).flat()
  expect(trips(failing, { ...defaultGuardrails, sameError: 0 })).toEqual([])
  const settings = { ...defaultGuardrails, models: { 'small-*': { sameError: 2 }, 'small-but-*': { sameError: 7 } } }
  const breaker = createBreaker((model) => guardrailsFor(settings, model))
  const alarms = [used('small-1'), ...failing.slice(0, 4)].flatMap((event) => breaker.saw(event) ?? [])
  expect(alarms).toHaveLength(1)
  expect(guardrailsFor(settings, 'small-but-good').sameError).toBe(7)
  expect(guardrailsFor(settings, undefined).sameError).toBe(5)
})

test.each([
  ['run 01890a5d-ac96-774b-bcce-b302099a8057 failed', 'run <id> failed'],
  ['at 2026-11-15T12:00:00.123Z: line 12', 'at <time>: line <number>'],
  ['cannot open /tmp/pawl-8sd7/x.txt: no', 'cannot open <temp>: no'],
  ['commit 9f1c2ab4d is gone', 'commit <id> is gone'],
  ['took 1.5 s', 'took <number> s'],
  ['defaced facade', 'defaced facade'],
])('%s is the same error as any other %s', (written, masked) => {
  expect(normalised(written)).toBe(masked)
})

test('only the beginning of an error counts', () => {
  expect(normalised(`${'a'.repeat(300)} 1`)).toBe('a'.repeat(200))
})
