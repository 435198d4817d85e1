import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { PermissionRequest, Turn } from '../port.ts'
import { codex } from './agent.ts'

const fakeCodex = fileURLToPath(new URL('../../../test/fake-agent/fake-codex.js', import.meta.url))
const threadId = '0199a213-81c0-7800-8aa1-bbab2a035a53'

const says = (method: string, params: object) => ({ dir: 'out', msg: { method, params: { threadId, ...params } } })
const asks = (method: string, params: object) => ({ dir: 'out', msg: { id: 7, method, params: { threadId, ...params } } })
const hears = (msg: object) => ({ dir: 'in', msg })
const item = (state: 'started' | 'completed', value: object) => says(`item/${state}`, { item: value })
const ends = (status: string, error: object | null = null) => says('turn/completed', { turn: { id: 't1', status, error } })
const done = [item('completed', { type: 'agentMessage', id: 'm', text: 'done' }), ends('completed')]
const told = (reason: string) => [
  hears({
    id: 4,
    method: 'turn/steer',
    params: {
      threadId,
      expectedTurnId: 't1',
      input: [{ type: 'text', text: `<permission_denied>\n${reason}\n</permission_denied>`, text_elements: [] }],
    },
  }),
  { dir: 'out', msg: { id: 4, result: { turnId: 't1' } } },
]
const begins = [
  hears({ id: 1, method: 'initialize' }),
  { dir: 'out', msg: { id: 1, result: {} } },
  hears({ method: 'initialized' }),
  hears({ id: 2, method: 'thread/start' }),
  { dir: 'out', msg: { id: 2, result: { thread: { id: threadId } } } },
  hears({ id: 3, method: 'turn/start' }),
  { dir: 'out', msg: { id: 3, result: { turn: { id: 't1' } } } },
]

test.each([
  [
    'fileChange',
    { itemId: 'c1', reason: 'outside' },
    { tool: 'apply_patch', input: { changes: [{ path: 'a' }], reason: 'outside' } },
    { decision: 'accept' },
    { decision: 'decline' },
  ],
  [
    'commandExecution',
    { kind: 'command', command: '/bin/bash -lc ls', cwd: '/w' },
    { tool: 'shell', input: { command: 'ls', cwd: '/w' } },
    { decision: 'accept' },
    { decision: 'decline' },
  ],
  [
    'permissions',
    { permissions: { network: { enabled: true }, fileSystem: null }, cwd: '/w', reason: null },
    { tool: 'request_permissions', input: { permissions: { network: { enabled: true }, fileSystem: null }, cwd: '/w' } },
    { permissions: { network: { enabled: true } }, scope: 'turn' },
    { permissions: {}, scope: 'turn' },
  ],
] as const)('permission for a %s is asked for and answered, a no with its reason', async (kind, params, request, yes, no) => {
  for (const [permission, result, reason] of [
    [{ allow: true }, yes, []],
    [{ allow: false, message: 'no' }, no, told('no')],
  ] as const) {
    const started = item('started', { type: 'fileChange', id: 'c1', changes: [{ path: 'a' }], status: 'inProgress' })
    const { verdict, requests } = await play(
      [
        ...begins,
        started,
        asks(`item/${kind}/requestApproval`, { turnId: 't1', ...params }),
        ...reason,
        hears({ id: 7, result }),
        ...done,
      ],
      { permit: async () => permission },
    )
    expect(requests).toEqual([request])
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
  }
})

test.each(['mcpServer/elicitation/request', 'item/tool/call', 'something/new'])(
  'the request %s is refused, not left open',
  async (method) => {
    const { verdict } = await play([...begins, asks(method, {}), hears({ id: 7 }), ...done])
    expect(verdict.outcome).toBe('succeeded')
  },
)

test('a question that cannot be stored is refused, and the turn goes on', async () => {
  const ask = async () => {
    throw new Error('the run is over')
  }
  const question = asks('item/tool/requestUserInput', { questions: [{ id: 'q', question: 'Why?' }] })
  const { verdict } = await play([...begins, question, hears({ id: 7 }), ...done], { ask })
  expect(verdict.outcome).toBe('succeeded')
})

test('several questions are all stored before the turn ends as blocked', async () => {
  const asked: unknown[] = []
  const questions = [
    { id: 'a', question: 'One?', options: [{ label: 'x', description: 'why x' }] },
    { id: 'b', header: 'Two', options: null },
  ]
  const { verdict } = await play(
    [
      ...begins,
      asks('item/tool/requestUserInput', { questions }),
      hears({ id: 4, method: 'turn/interrupt' }),
      ends('interrupted'),
    ],
    {
      async ask(given) {
        asked.push(...given)
        return undefined
      },
    },
  )
  expect(asked).toEqual([
    { kind: 'free', text: 'One?\n- x: why x', options: ['x'] },
    { kind: 'free', text: 'Two', options: [] },
  ])
  expect(verdict).toMatchObject({ outcome: 'blocked', mayGoOn: true, vendorSession: threadId })
})

test('questions that are answered while the turn waits are answered by their ids, and the turn goes on', async () => {
  const questions = [
    { id: 'a', question: 'One?' },
    { id: 'b', question: 'Two?' },
  ]
  const answers = { a: { answers: ['x'] }, b: { answers: ['y'] } }
  const { verdict } = await play(
    [...begins, asks('item/tool/requestUserInput', { questions }), hears({ id: 7, result: { answers } }), ...done],
    { ask: async () => ['x', 'y'] },
  )
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
})

test('a call that a person is asked about is declined, and ends the turn as blocked', async () => {
  const command = asks('item/commandExecution/requestApproval', { kind: 'command', command: 'git push', cwd: '/w' })
  const { verdict } = await play(
    [
      ...begins,
      command,
      hears({ id: 7, result: { decision: 'decline' } }),
      hears({ id: 4, method: 'turn/interrupt' }),
      ends('interrupted'),
    ],
    { permit: async () => ({ allow: false, message: 'Somebody was asked.', asked: true }) },
  )
  expect(verdict).toMatchObject({ outcome: 'blocked', mayGoOn: true })
})

test('an agent that the agent started neither ends the turn nor speaks for it', async () => {
  const other = { threadId: 'other' }
  const { verdict, events } = await play([
    ...begins,
    says('item/completed', { ...other, item: { type: 'agentMessage', id: 'x', text: 'not me' } }),
    says('item/completed', {
      ...other,
      item: { type: 'commandExecution', id: 'y', command: 'rm x', status: 'completed', exitCode: 1 },
    }),
    says('turn/completed', { ...other, turn: { id: 'o1', status: 'completed' } }),
    ...done,
  ])
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
  expect(events.map((event) => event.type)).toEqual([
    'agent.session',
    'agent.tool_called',
    'agent.tool_returned',
    'agent.message',
  ])
})

test('thinking, searching and a shortened history are told once each', async () => {
  const { events } = await play([
    ...begins,
    item('completed', { type: 'reasoning', id: 'r', summary: ['I wonder', 'and decide'], content: [] }),
    item('completed', { type: 'webSearch', id: 'w', query: 'pawl' }),
    item('started', { type: 'contextCompaction', id: 'k' }),
    item('completed', { type: 'contextCompaction', id: 'k' }),
    says('thread/compacted', { turnId: 't1' }),
    ...done,
  ])
  expect(events.slice(1, -1)).toEqual([
    { type: 'agent.thinking', data: { text: 'I wonder\n\nand decide' } },
    { type: 'agent.tool_called', data: { callId: 'w', tool: 'web_search', input: { query: 'pawl' } } },
    { type: 'agent.tool_returned', data: { callId: 'w', output: '', isError: false } },
    { type: 'agent.compacted', data: { trigger: 'auto' } },
  ])
})

test('what it means to do is told as a list whenever that changes, and not for the agents that it started', async () => {
  const plan = (...steps: [string, string][]) => ({ turnId: 't1', plan: steps.map(([step, status]) => ({ step, status })) })
  const { events } = await play([
    ...begins,
    says('turn/plan/updated', { explanation: null, ...plan(['look\naround', 'inProgress'], ['mend it', 'pending']) }),
    says('turn/plan/updated', { threadId: 'another', ...plan(['something else', 'pending']) }),
    says('turn/plan/updated', plan(['look around', 'inProgress'], ['mend it', 'pending'])),
    says('turn/plan/updated', plan(['look around', 'completed'], ['mend it', 'inProgress'])),
    ...done,
  ])
  expect(events.slice(1, -1)).toEqual([
    { type: 'agent.thinking', data: { text: 'Plan:\n- [>] look around\n- [ ] mend it' } },
    { type: 'agent.thinking', data: { text: 'Plan:\n- [x] look around\n- [>] mend it' } },
  ])
})

test('the final answer is the last message that is no comment', async () => {
  const { verdict } = await play([
    ...begins,
    item('completed', { type: 'agentMessage', id: 'a', text: 'the answer', phase: 'final_answer' }),
    item('completed', { type: 'agentMessage', id: 'b', text: 'by the way', phase: 'commentary' }),
    ends('completed'),
  ])
  expect(verdict.text).toBe('the answer')
})

test('a limit of the account tells when it is full again', async () => {
  const resetsAt = Math.floor(Date.now() / 1000) + 5_000
  const windows = { primary: { usedPercent: 100, resetsAt }, secondary: { usedPercent: 20, resetsAt: resetsAt + 9_999 } }
  const { verdict } = await play([
    ...begins,
    says('account/rateLimits/updated', { rateLimits: windows }),
    ends('failed', { message: 'You have hit it.', codexErrorInfo: 'usageLimitExceeded' }),
  ])
  expect(verdict).toMatchObject({
    outcome: 'failed',
    category: 'usage_limit',
    retryAt: new Date(resetsAt * 1000),
    mayGoOn: false,
  })
})

test('an abort keeps the words of a message that was not finished', async () => {
  const stop = new AbortController()
  const { verdict } = await play(
    [
      ...begins,
      says('item/agentMessage/delta', { itemId: 'm', delta: 'half a ' }),
      says('item/agentMessage/delta', { itemId: 'm', delta: 'sentence' }),
      item('completed', { type: 'reasoning', id: 'r', summary: ['hm'] }),
      hears({ id: 4, method: 'turn/interrupt' }),
      ends('interrupted'),
    ],
    { signal: stop.signal, emit: (event) => event.type === 'agent.thinking' && stop.abort() },
  )
  expect(verdict).toMatchObject({ outcome: 'partial', text: 'half a sentence', mayGoOn: true })
})

test('an abort in the handshake begins no turn', async () => {
  const stop = new AbortController()
  const { verdict, events } = await play([...begins.slice(0, 5), hears({ method: 'never comes' })], {
    signal: stop.signal,
    emit: () => stop.abort(),
  })
  expect(verdict).toMatchObject({ outcome: 'empty' })
  expect(events.map((event) => event.type)).toEqual(['agent.session'])
})

test('a program that ends in the handshake has crashed, in its own words', async () => {
  const first = await play([begins[0] ?? {}, { stderr: 'Error: approval_policy is odd' }, { exit: 1 }])
  expect(first.verdict).toMatchObject({
    outcome: 'failed',
    category: 'exit_code',
    message: 'Exit code 1: approval_policy is odd',
  })
  const second = await play([begins[0] ?? {}, { exit: 0 }])
  expect(second.verdict).toMatchObject({ outcome: 'failed', category: 'crashed', mayGoOn: false })
})

test('a request that is not granted fails the turn with its reason', async () => {
  const refused = { dir: 'out', msg: { id: 3, error: { code: -32600, message: 'thread not found: x' } } }
  const { verdict } = await play([...begins.slice(0, 6), refused])
  expect(verdict).toMatchObject({ outcome: 'failed', category: 'session_missing', mayGoOn: false })
})

const task = { type: 'commandExecution', id: 'c9', command: 'ls', status: 'inProgress' }
test.each([
  ['begins a turn', says('turn/started', { turn: { id: 't2' } })],
  ['uses a tool', item('started', task)],
  ['lets an agent of its agent use a tool', says('item/started', { threadId: 'other', item: task })],
])('a program that %s when its turn is over is done with', async (_, unbidden) => {
  // The refused request comes first, so that what follows surely comes between two turns.
  const later = [asks('item/commandExecution/requestApproval', { command: 'ls' }), hears({ id: 7 })]
  for (const more of [[unbidden], later, [...later, unbidden]]) {
    const { verdict, events, conversation, told, child, requests } = await play([...begins, ...done, ...more])
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
    await told
    expect(requests).toEqual([])
    expect(events.map((event) => event.type)).toEqual(['agent.session', 'agent.message'])
    const again = await conversation.turn({ ...noTurn, prompt: 'again' })
    expect(again).toMatchObject({ outcome: 'failed', category: 'crashed', text: '' })
    // Its stdin was closed.
    await child.exited
  }
})

test('what the program tells of a turn after its end is no work of its own', async () => {
  const tells = [
    says('thread/tokenUsage/updated', { turnId: 't1', tokenUsage: {} }),
    says('account/rateLimits/updated', { rateLimits: {} }),
    says('thread/status/changed', { status: { type: 'idle' } }),
  ]
  const next = [hears({ id: 4, method: 'turn/start' }), { dir: 'out', msg: { id: 4, result: { turn: { id: 't1' } } } }, ...done]
  const { verdict, conversation } = await play([...begins, ...done, ...tells, ...next])
  expect(verdict.mayGoOn).toBe(true)
  expect(await conversation.turn({ ...noTurn, prompt: 'again' })).toMatchObject({ outcome: 'succeeded', mayGoOn: true })
})

const noTurn: Omit<Turn, 'prompt'> = {
  signal: new AbortController().signal,
  ask: async () => undefined,
  permit: async () => ({ allow: true }),
  emit: () => {},
}

type Hooks = Partial<Omit<Turn, 'emit'>> & { emit?: (event: AgentEvent) => unknown }

async function play(recording: object[], hooks: Hooks = {}) {
  const place = await makePlace()
  const file = join(place.home, 'transcript.jsonl')
  writeFileSync(file, recording.map((line) => JSON.stringify(line)).join('\n'))
  const child = await launch({ file: fakeCodex, args: ['app-server'], env: { FAKE_TRANSCRIPT: file } }, place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const spec = { options: codex.options.parse({}), prompt: '', ...place, extraArgs: [] }
  const events: AgentEvent[] = []
  const requests: PermissionRequest[] = []
  const conversation = await codex.open(child, spec)
  const told = new Promise<void>((done) => conversation.onUnbidden?.(done))
  const verdict = await conversation.turn({
    prompt: 'go',
    signal: hooks.signal ?? new AbortController().signal,
    ask: hooks.ask ?? (async () => undefined),
    async permit(request) {
      requests.push(request)
      return hooks.permit?.(request) ?? { allow: true }
    },
    emit(event) {
      events.push(event)
      hooks.emit?.(event)
    },
  })
  return { verdict, events, requests, conversation, told, child }
}
