import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makePlace } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { ToolExchange } from '../../domain/agent/tool-exchange.ts'
import { conflict } from '../../domain/error.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { QuestionAsked } from '../../domain/question/question.ts'
import type { Child } from '../../sandbox/process/child.ts'
import type { Conversation, LaunchSpec, Permission, PermissionRequest, Turn } from '../port.ts'
import { claudeCode } from './agent.ts'
import type { ClaudeCodeOptions } from './options.ts'

const command = fileURLToPath(new URL('../../../test/fake-agent/fake-claude.js', import.meta.url))
type Step = Record<string, unknown>

test('one process serves many turns, each with its own text, usage and cost', async () => {
  const { take } = await open()
  const first = await take('one')
  expect(first.verdict).toEqual({
    outcome: 'succeeded',
    text: '3 bytes: one',
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 1, cacheWriteTokens: 2, turns: 1 },
    costUsd: 0.25,
    vendorSession: '0f0f0f0f-0000-4000-8000-000000000000',
    mayGoOn: true,
  })
  const second = await take('two')
  expect(second.verdict).toEqual({ ...first.verdict, text: '3 bytes: two' })
  expect(second.events).toEqual([
    { type: 'agent.session', data: { vendorId: '0f0f0f0f-0000-4000-8000-000000000000' } },
    { type: 'agent.message', data: { text: '3 bytes: two' } },
    { type: 'agent.usage', data: { usage: first.verdict.usage } },
  ])
})

test('the first cost of a resumed conversation is unknown rather than that of all its runs', async () => {
  const { take } = await open({ resume: 'a0a0a0a0-0000-4000-8000-000000000000' })
  expect((await take('one')).verdict).toMatchObject({ costUsd: undefined, vendorSession: 'a0a0a0a0-0000-4000-8000-000000000000' })
  expect((await take('two')).verdict.costUsd).toBe(0.25)
})

test('what a tool may do is decided by the profile, and the agent hears it', async () => {
  const requests: PermissionRequest[] = []
  const permit = async (request: PermissionRequest): Promise<Permission> => {
    requests.push(request)
    return request.tool === 'Read' ? { allow: true } : { allow: false, message: 'Nothing is written here.' }
  }
  const steps = [
    { use: { id: 'c1', name: 'Read', input: { file_path: 'a' } } },
    { use: { id: 'c2', name: 'Write', input: { file_path: 'b' } } },
    { say: 'done' },
  ]
  const { take } = await open()
  const { verdict, events } = await take(steps, { permit })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
  expect(requests).toEqual([
    { tool: 'Read', input: { file_path: 'a' } },
    { tool: 'Write', input: { file_path: 'b' } },
  ])
  expect(events.filter((event) => event.type === 'agent.tool_returned').map((event) => event.data)).toEqual([
    { callId: 'c1', output: 'did {"file_path":"a"}', isError: false },
    { callId: 'c2', output: 'Nothing is written here.', isError: true },
  ])
})

const question = {
  questions: [
    { question: 'Which colour?', header: 'Colour', options: [{ label: 'Red', description: 'like blood' }, { label: 'Blue' }] },
    { question: 'Which sizes?', multiSelect: true, options: [{ label: 'S' }, { label: 'L' }] },
  ],
}

test('a question is stored before the turn ends, the turn is blocked, and the next one brings the answer', async () => {
  const asked: QuestionAsked[] = []
  const { take } = await open()
  const steps = [{ say: 'I must ask.' }, { use: { id: 'q', name: 'AskUserQuestion', input: question } }, { say: 'never said' }]
  const { verdict, events } = await take(steps, {
    async ask(questions) {
      asked.push(...questions)
      return undefined
    },
  })
  expect(asked).toEqual([
    { kind: 'free', text: 'Which colour?\n- Red: like blood', options: ['Red', 'Blue'] },
    { kind: 'free', text: 'Which sizes?', options: ['S', 'L'], multiSelect: true },
  ])
  expect(verdict).toMatchObject({ outcome: 'blocked', text: 'I must ask.', mayGoOn: true })
  expect(events.findLast((event) => event.type === 'agent.tool_returned')).toEqual({
    type: 'agent.tool_returned',
    data: { callId: 'q', output: expect.stringContaining('passed on to the user'), isError: true },
  })
  expect((await take('Red, and S')).verdict).toMatchObject({ outcome: 'succeeded', text: '10 bytes: Red, and S' })
})

test('a question that is answered while the turn waits goes on in the same turn, with the answers under its own words', async () => {
  const { take } = await open()
  const steps = [{ use: { id: 'q', name: 'AskUserQuestion', input: question } }, { say: 'went on' }]
  const { verdict, events } = await take(steps, { ask: async () => ['Red', 'S, L'] })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'went on' })
  const answers = { 'Which colour?': 'Red', 'Which sizes?': 'S, L' }
  expect(events.filter((event) => event.type === 'agent.tool_returned').map((event) => event.data)).toEqual([
    { callId: 'q', output: `did ${JSON.stringify({ ...question, answers })}`, isError: false },
  ])
})

test('a call that a person is asked about ends the turn as blocked, and the next one brings the answer', async () => {
  const { take } = await open()
  const steps = [{ use: { id: 'c1', name: 'Bash', input: { command: 'git push' } } }, { say: 'never said' }]
  const { verdict, events } = await take(steps, {
    permit: async () => ({ allow: false, message: 'Somebody was asked.', asked: true }),
  })
  expect(verdict).toMatchObject({ outcome: 'blocked', text: '', mayGoOn: true })
  expect(events.findLast((event) => event.type === 'agent.tool_returned')).toEqual({
    type: 'agent.tool_returned',
    data: { callId: 'c1', output: 'Somebody was asked.', isError: true },
  })
  expect((await take('Allow once')).verdict.outcome).toBe('succeeded')
})

test('a question that cannot be stored is denied, and the turn goes on', async () => {
  const { take } = await open()
  const steps = [{ use: { id: 'q', name: 'AskUserQuestion', input: question } }, { say: 'went on' }]
  const { verdict, events } = await take(steps, { ask: () => Promise.reject(new Error('This run is over.')) })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'went on' })
  expect(events).toContainEqual({
    type: 'agent.tool_returned',
    data: { callId: 'q', output: 'This run is over.', isError: true },
  })
})

test('a request of an unknown kind is answered with an error, never left open', async () => {
  const { take } = await open()
  const { verdict } = await take([{ ask: { subtype: 'borrow_money' } }])
  expect(JSON.parse(verdict.text)).toMatchObject({ subtype: 'error', error: 'Pawl does not answer borrow_money.' })
})

test('a turn that is stopped is interrupted by protocol, keeps what was said, and the process is still there', async () => {
  const { take, child } = await open()
  const stop = new AbortController()
  const emit = (event: AgentEvent) => void (event.type === 'agent.message' && stop.abort())
  const { verdict } = await take([{ say: 'so far' }, { hang: true }], { signal: stop.signal, emit })
  expect(verdict).toMatchObject({ outcome: 'partial', text: 'so far', costUsd: 0.25 })
  expect(verdict.mayGoOn).toBeUndefined()
  expect((await take('again')).verdict.outcome).toBe('succeeded')
  expect(await Promise.race([child.exited, 'alive'])).toBe('alive')
})

test.each([
  [
    'a command that still runs',
    [{ line: { type: 'system', subtype: 'background_tasks_changed', tasks: [{}] } }, { say: 'x' }],
    {},
  ],
  ['a budget that is partly used', [{ say: 'x' }], { maxUsd: 1 }],
])('%s makes the process unfit for another turn', async (_, steps, spec) => {
  const { take } = await open(spec)
  expect((await take(steps)).verdict).toMatchObject({ outcome: 'succeeded', mayGoOn: false })
})

test.each<[string, Step]>([
  ['speaks', { line: { type: 'assistant', message: { content: [{ type: 'text', text: 'tick' }] } } }],
  ['begins a turn', { line: { type: 'system', subtype: 'init', session_id: '0f0f0f0f-0000-4000-8000-000000000000' } }],
  ['starts a command', { line: { type: 'system', subtype: 'background_tasks_changed', tasks: [{}] } }],
])('a program that %s between two turns is done with', async (_, step) => {
  const { take, unbidden, child } = await open()
  expect((await take([{ later: [step] }, { say: 'done' }])).verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
  await unbidden
  expect((await take('again')).verdict).toMatchObject({ outcome: 'failed', category: 'crashed', text: '' })
  // Its stdin was closed.
  await child.exited
})

test('a program that wants to use a tool between two turns is refused', async () => {
  const { take, unbidden, child, place } = await open()
  const heard = join(place.workspace, 'heard.jsonl')
  const use = { use: { id: 'c1', name: 'Bash', input: { command: 'true' } } }
  await take([{ later: [use, { ask: { subtype: 'hook_callback' } }], heard }, { say: 'done' }])
  await unbidden
  await child.exited
  const answers = readFileSync(heard, 'utf8').trim().split('\n')
  expect(JSON.parse(answers[0] ?? '')).toMatchObject({
    subtype: 'success',
    response: { behavior: 'deny', message: expect.any(String) },
  })
})

const toServer = (server_name: string, message: object) => ({ subtype: 'mcp_message', server_name, message })

test('messages to servers of tools are answered over the pipe, ours and those of the user, whatever becomes of them', async () => {
  const seen: unknown[] = []
  const exchange: ToolExchange = async (message, { server }) => {
    seen.push([server, message])
    if (server === 'broken') throw conflict('No run is under way.')
    return 'id' in message ? { jsonrpc: '2.0', id: message.id, result: { from: server ?? 'pawl' } } : undefined
  }
  const { take } = await open({ door: { url: '', token: '', exchange } })
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
  const told = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const steps = [
    { ask: toServer('pawl', list) },
    { ask: toServer('notes', list) },
    { ask: toServer('pawl', told) },
    { ask: toServer('broken', list) },
    { ask: { subtype: 'mcp_message' } },
  ]
  const { events } = await take([...steps, { say: 'done' }])
  const answers = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : [])).slice(0, steps.length)
  expect(answers.map((text) => JSON.parse(text).response?.mcp_response)).toEqual([
    { jsonrpc: '2.0', id: 7, result: { from: 'pawl' } },
    { jsonrpc: '2.0', id: 7, result: { from: 'notes' } },
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: 7, error: { code: -32000, message: 'No run is under way.' } },
    { jsonrpc: '2.0', id: 0, result: {} },
  ])
  expect(seen).toEqual([
    [undefined, list],
    ['notes', list],
    ['broken', list],
  ])
})

test('a call of a tool that the program takes back is told to end, and no other', async () => {
  const ended: unknown[] = []
  const both = Promise.withResolvers<void>()
  const exchange: ToolExchange = async (_, { server, signal }) => {
    signal.addEventListener('abort', () => {
      ended.push(server)
      both.resolve()
    })
    return new Promise(() => {})
  }
  const { take } = await open({ door: { url: '', token: '', exchange } })
  const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'slow' } }
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }
  const asked = (request_id: string, request: object) => ({ type: 'control_request', request_id, request })
  const lines = [
    asked('a', toServer('pawl', call)),
    asked('b', toServer('notes', call)),
    asked('c', toServer('notes', cancelled)),
  ]
  await take([...lines.map((line) => ({ line })), { ask: toServer('pawl', cancelled) }, { say: 'done' }])
  await both.promise
  expect(ended).toEqual(['notes', undefined])
})

test('a tool that is called between two turns is refused, and the program is done with; to take a call back is no work', async () => {
  const seen: unknown[] = []
  const exchange: ToolExchange = async (message) => void seen.push(message)
  const { take, unbidden, child, place } = await open({ door: { url: '', token: '', exchange } })
  const heard = join(place.workspace, 'heard.jsonl')
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }
  await take([{ later: [{ ask: toServer('pawl', cancelled) }], heard }, { say: 'done' }])
  await vi.waitFor(() => readFileSync(heard), { timeout: 20_000 })
  expect((await take('two')).verdict).toMatchObject({ outcome: 'succeeded', mayGoOn: true })
  const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'ask_user' } }
  await take([{ later: [{ ask: toServer('pawl', call) }], heard }, { say: 'done' }])
  await unbidden
  await child.exited
  const answers = readFileSync(heard, 'utf8').trim().split('\n')
  expect(answers.map((text) => JSON.parse(text).error)).toEqual(Array(2).fill(expect.stringMatching(/^No turn is under way/)))
  expect(seen).toEqual([])
})

test('what the program tells of a turn after its end is no work of its own', async () => {
  const { take, unbidden } = await open()
  const lines = [
    { type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } },
    { type: 'system', subtype: 'files_persisted' },
    { type: 'system', subtype: 'background_tasks_changed', tasks: [] },
    { type: 'prompt_suggestion', suggestion: 'x' },
  ]
  await take([{ later: lines.map((line) => ({ line })) }, { say: 'one' }])
  expect((await take('two')).verdict).toMatchObject({ outcome: 'succeeded', mayGoOn: true })
  expect(await Promise.race([unbidden, 'not told'])).toBe('not told')
})

test('words that come in one piece with the end of a turn make the process unfit', async () => {
  const { take } = await open()
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'x',
    session_id: 's',
    num_turns: 1,
    total_cost_usd: 0,
  }
  const more = { type: 'assistant', message: { content: [{ type: 'text', text: 'and now by myself' }] } }
  const { verdict, events } = await take([{ lines: [result, more] }, { hang: true }])
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'x', mayGoOn: false })
  expect(JSON.stringify(events)).not.toContain('by myself')
})

test('a turn without a result counts what its messages used, each once, those of subagents too', async () => {
  const counts = { input_tokens: 100, cache_read_input_tokens: 20, cache_creation_input_tokens: 3 }
  const part = (id: string, output_tokens: number, more: object = {}) => ({
    line: {
      type: 'assistant',
      message: { id, content: [{ type: 'text', text: 'x' }], usage: { ...counts, output_tokens } },
      ...more,
    },
  })
  const steps = [part('a', 1), part('a', 8), part('s', 4, { parent_tool_use_id: 'c1' }), part('b', 2), { exit: 1 }]
  const { take } = await open()
  expect((await take(steps)).verdict).toMatchObject({
    outcome: 'failed',
    usage: { inputTokens: 300, outputTokens: 14, cacheReadTokens: 60, cacheWriteTokens: 9, turns: 2 },
  })
  const ended = await open()
  expect((await ended.take([...steps.slice(0, 4), { say: 'done' }])).verdict.usage).toMatchObject({
    inputTokens: 10,
    outputTokens: 5,
  })
})

test('a tool that a subagent used names the call that started it', async () => {
  const used = (id: string, more: object) => ({
    line: { type: 'assistant', message: { content: [{ type: 'tool_use', id, name: 'Read', input: {} }] }, ...more },
  })
  const { take } = await open()
  const { events } = await take([
    used('c1', { parent_tool_use_id: null }),
    used('c2', { parent_tool_use_id: 'c1' }),
    { say: 'done' },
  ])
  const calls = events.filter(({ type }) => type === 'agent.tool_called')
  expect(calls.map(({ data }) => data)).toEqual([
    { callId: 'c1', tool: 'Read', input: {} },
    { callId: 'c2', tool: 'Read', input: {}, parent: 'c1' },
  ])
})

test('a process that ends between two turns is found ended', async () => {
  const { take, child } = await open()
  await take('one')
  child.stdin.end()
  await child.exited
  expect((await take('two')).verdict).toMatchObject({
    outcome: 'failed',
    category: 'crashed',
    message: 'The program ended without a result.',
  })
})

test.each([
  ['Error: Session ID 1 is already in use.', 'session_missing'],
  ['No conversation found with session ID: 1', 'session_missing'],
  ["error: unknown option '--sandwich'", 'bad_config'],
  ['the disk is full', 'exit_code'],
])('an end without a result after "%s" is %s', async (text, category) => {
  const { take } = await open()
  const { verdict, events } = await take([{ stderr: text }, { exit: 1 }])
  expect(verdict).toMatchObject({ outcome: 'failed', category, message: `Exit code 1: ${text}` })
  expect(events).toContainEqual({ type: 'agent.stderr', data: { text } })
})

async function open(given: Partial<LaunchSpec<ClaudeCodeOptions>> = {}) {
  const place = await makePlace()
  const options = claudeCode.options.parse({ command })
  const spec = { options, prompt: '', ...place, extraArgs: [], ...given }
  const child: Child = await launch(claudeCode.command(spec), place)
  const conversation: Conversation = await claudeCode.open(child, spec)
  onTestFinished(async () => {
    await conversation.close()
    await child.stop({ graceMs: 0 })
  })
  async function take(
    prompt: string | Step[],
    turn: {
      permit?: (request: PermissionRequest) => Promise<Permission>
      ask?: Turn['ask']
      signal?: AbortSignal
      emit?: (event: AgentEvent) => void
    } = {},
  ) {
    const events: AgentEvent[] = []
    const verdict = await conversation.turn({
      prompt: typeof prompt === 'string' ? prompt : JSON.stringify(prompt),
      signal: turn.signal ?? new AbortController().signal,
      permit: turn.permit ?? (async () => ({ allow: true })),
      ask: turn.ask ?? (async () => undefined),
      emit(event) {
        events.push(event)
        turn.emit?.(event)
      },
    })
    return { verdict, events }
  }
  const unbidden = new Promise<void>((done) => conversation.onUnbidden?.(done))
  return { take, child, place, unbidden }
}
