import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { z } from 'zod'
import { makePlace } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { LaunchSpec, PermissionRequest, Turn } from '../port.ts'
import { acp } from './agent.ts'

const fakeAcp = fileURLToPath(new URL('../../../test/fake-agent/fake-acp.js', import.meta.url))
const sessionId = 'sess-1'
const says = (msg: object) => ({ dir: 'out', msg })
const hears = (msg: object) => ({ dir: 'in', msg })
const update = (update: object) => says({ method: 'session/update', params: { sessionId, update } })
const chunk = (text: string, more: object = {}) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more })
const greeted = (capabilities: object = {}, more: object = {}) => [
  hears({ id: 1, method: 'initialize' }),
  says({ id: 1, result: { protocolVersion: 1, agentCapabilities: capabilities, ...more } }),
]
const opened = (result: object = {}) => [
  hears({ id: 2, method: 'session/new' }),
  says({ id: 2, result: { sessionId, ...result } }),
]
const begins = [...greeted(), ...opened(), hears({ id: 3, method: 'session/prompt' })]
const ends = (stopReason = 'end_turn', id = 3) => says({ id, result: { stopReason } })
const done = [chunk('done'), ends()]
const toolCall = { toolCallId: 'c1', title: 'Run ls', kind: 'execute', rawInput: { command: ['bash', '-lc', 'ls'] } }
const choices = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes-1', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no-1', name: 'No', kind: 'reject_once' },
]
const asksFor = (options: object[], call: object = toolCall) =>
  says({ id: 7, method: 'session/request_permission', params: { sessionId, toolCall: call, options } })
const chose = (optionId: string) => hears({ id: 7, result: { outcome: { outcome: 'selected', optionId } } })
const cancelled = hears({ id: 7, result: { outcome: { outcome: 'cancelled' } } })
const cancels = [hears({ method: 'session/cancel', params: { sessionId } }), ends('cancelled')]

test('pieces become whole messages, and thoughts, calls, plans and modes are told in their order', async () => {
  const { verdict, events } = await play([
    ...begins,
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm' } }),
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: '.' } }),
    chunk('I will ', { messageId: 'a' }),
    chunk('look.', { messageId: 'a' }),
    chunk('Now.', { messageId: 'b' }),
    update({ sessionUpdate: 'tool_call', ...toolCall, rawInput: {}, status: 'pending' }),
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', rawInput: toolCall.rawInput }),
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: '```console\na.txt\n```' } }],
    }),
    update({ sessionUpdate: 'plan', entries: [{ content: 'Look', priority: 'high', status: 'completed' }] }),
    update({ sessionUpdate: 'current_mode_update', currentModeId: 'code' }),
    update({ sessionUpdate: 'available_commands_update', availableCommands: [] }),
    update({ sessionUpdate: 'of_tomorrow', x: 1 }),
    ...done,
  ])
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done', vendorSession: sessionId, mayGoOn: true })
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['agent.session', { vendorId: sessionId }],
    ['agent.thinking', { text: 'Hm.' }],
    ['agent.message', { text: 'I will look.' }],
    ['agent.message', { text: 'Now.' }],
    ['agent.tool_called', { callId: 'c1', tool: 'execute', input: { command: 'ls' } }],
    ['agent.tool_returned', { callId: 'c1', output: 'a.txt', isError: false }],
    ['agent.thinking', { text: 'Plan:\n- [x] Look' }],
    ['agent.thinking', { text: 'It goes on in the mode "code".' }],
    ['agent.unknown', { raw: expect.stringContaining('of_tomorrow') }],
    ['agent.message', { text: 'done' }],
  ])
})

test.each([
  ['a yes', { allow: true }, choices, chose('yes-1')],
  ['a no', { allow: false, message: 'no' }, choices, chose('no-1')],
  ['a yes where only always is offered', { allow: true }, [choices[0], choices[2]], chose('no-1')],
  ['a no where none is offered', { allow: false, message: 'no' }, [choices[1]], cancelled],
] as const)('%s is given once only, by the id of the program', async (_, permission, options, answer) => {
  const { verdict, requests } = await play([...begins, asksFor([...options] as object[]), answer, ...done], {
    permit: async () => permission,
  })
  expect(requests).toEqual([{ tool: 'execute', input: { command: 'ls' } }])
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
})

test.each(['cancelled', 'end_turn'])(
  'a program that ends its turn (%s) because of a no is told why, and goes on',
  async (reason) => {
    const told = { sessionId, prompt: [{ type: 'text', text: '<permission_denied>\nnot here\n</permission_denied>' }] }
    const { verdict } = await play(
      [
        ...begins,
        chunk('I try.'),
        asksFor(choices),
        chose('no-1'),
        ends(reason),
        hears({ id: 4, method: 'session/prompt', params: told }),
        chunk('Then not.'),
        ends('end_turn', 4),
      ],
      { permit: async () => ({ allow: false, message: 'not here' }) },
    )
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'Then not.' })
  },
)

test('what a person is asked about ends the turn as blocked, and the program may go on', async () => {
  const { verdict } = await play([...begins, asksFor(choices), cancelled, ...cancels], {
    permit: async () => ({ allow: false, message: 'asked', asked: true }),
  })
  expect(verdict).toMatchObject({ outcome: 'blocked', mayGoOn: true })
})

const form = {
  mode: 'form',
  sessionId,
  message: 'Which colour?',
  requestedSchema: {
    type: 'object',
    properties: {
      q0: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'b', title: 'Blue' },
        ],
      },
    },
  },
}

test('a form is a question; answered at once it is filled in, else the turn ends as blocked', async () => {
  const asked = says({ id: 7, method: 'elicitation/create', params: form })
  const questions: unknown[] = []
  const ask = (answers?: string[]) => async (all: readonly unknown[]) => {
    questions.push(...all)
    return answers
  }
  const filled = await play([...begins, asked, hears({ id: 7, result: { action: 'accept', content: { q0: 'b' } } }), ...done], {
    ask: ask(['Blue']),
  })
  expect(filled.verdict.outcome).toBe('succeeded')
  const left = await play([...begins, asked, hears({ id: 7, result: { action: 'cancel' } }), ...cancels], { ask: ask() })
  expect(left.verdict.outcome).toBe('blocked')
  expect(questions[0]).toEqual({ kind: 'free', text: 'Which colour?', options: ['Red', 'Blue'] })
})

test.each(['fs/read_text_file', 'terminal/create', 'something/new'])(
  'the request %s is refused where it is not served',
  async (method) => {
    const { verdict } = await play([...begins, says({ id: 7, method, params: {} }), hears({ id: 7 }), ...done])
    expect(verdict.outcome).toBe('succeeded')
  },
)

test.each([
  ['max_tokens', 'failed', 'context_overflow'],
  ['max_turn_requests', 'failed', 'max_turns'],
  ['refusal', 'failed', 'reported_failure'],
  ['cancelled', 'partial', undefined],
  ['tomorrow', 'failed', 'protocol_error'],
])('a turn that stops with %s is %s', async (reason, outcome, category) => {
  const { verdict } = await play([...begins, chunk('so far'), ends(reason)])
  expect(verdict).toMatchObject({ outcome, text: 'so far' })
  expect(verdict.category).toBe(category)
})

test.each([
  [{ code: -32000, message: 'Authentication required' }, 'auth_failed'],
  [{ code: 429, message: 'Too fast' }, 'rate_limited'],
  [{ code: -32603, message: 'Internal error', data: { details: 'API Error: 529 {"type":"overloaded_error"}' } }, 'overloaded'],
  [{ code: -32603, message: 'Internal error', data: { details: 'unexpected status 502 Bad Gateway' } }, 'network'],
  [{ code: -32603, message: 'Your input exceeds the context window of this model' }, 'context_overflow'],
  [{ code: -32603, message: 'The model `x` does not exist' }, 'bad_config'],
  [{ code: -32603, message: 'Something else' }, 'exit_code'],
])('the error %o is %s', async (error, category) => {
  const { verdict } = await play([...begins, says({ id: 3, error })])
  expect(verdict).toMatchObject({ outcome: 'failed', category, mayGoOn: false })
})

test('is let in by the method that the settings name, in the mode and with the model that they name', async () => {
  const modes = {
    currentModeId: 'ask',
    availableModes: [
      { id: 'ask', name: 'Ask' },
      { id: 'code', name: 'Code' },
    ],
  }
  const model = { id: 'm', name: 'Model', category: 'model', type: 'select', currentValue: 'small', options: [] }
  const { verdict } = await play(
    [
      ...greeted({}, { authMethods: [{ id: 'key', name: 'Key' }] }),
      hears({ id: 2, method: 'authenticate', params: { methodId: 'key' } }),
      says({ id: 2, result: {} }),
      hears({ id: 3, method: 'session/new' }),
      says({ id: 3, result: { sessionId, modes, configOptions: [model] } }),
      hears({ id: 4, method: 'session/set_mode', params: { sessionId, modeId: 'code' } }),
      says({ id: 4, result: {} }),
      hears({ id: 5, method: 'session/set_config_option', params: { sessionId, configId: 'm', value: 'large' } }),
      says({ id: 5, result: { configOptions: [] } }),
      hears({ id: 6, method: 'session/prompt' }),
      chunk('done'),
      ends('end_turn', 6),
    ],
    {},
    { options: acp.options.parse({ command: fakeAcp, authMethod: 'key', mode: 'code' }), model: 'large' },
  )
  expect(verdict.outcome).toBe('succeeded')
})

test('a program that wants another version of the protocol is not spoken to', async () => {
  const { verdict } = await play([hears({ id: 1, method: 'initialize' }), says({ id: 1, result: { protocolVersion: 7 } })])
  expect(verdict).toMatchObject({ outcome: 'failed', message: expect.stringContaining('version 7') })
})

test('goes on with a conversation, whose story is not told again, and pays only for what is new', async () => {
  const cost = (amount: number) => update({ sessionUpdate: 'usage_update', used: 1, size: 9, cost: { amount, currency: 'USD' } })
  const { verdict, events } = await play(
    [
      ...greeted({ loadSession: true }),
      hears({ id: 2, method: 'session/load' }),
      chunk('of old'),
      cost(2),
      says({ id: 2, result: {} }),
      hears({ id: 3, method: 'session/prompt' }),
      cost(2.5),
      ...done,
    ],
    {},
    { resume: sessionId },
  )
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done', costUsd: 0.5 })
  expect(events.map(({ type }) => type)).toEqual(['agent.session', 'agent.usage', 'agent.message'])
})

test.each([
  ['does not offer it', greeted()],
  [
    'does not know it',
    [
      ...greeted({ sessionCapabilities: { resume: {} } }),
      hears({ id: 2, method: 'session/resume' }),
      says({ id: 2, error: { code: -32002, message: 'Resource not found' } }),
    ],
  ],
])('a conversation to go on with is missing where the program %s', async (_, recording) => {
  const { verdict } = await play(recording, {}, { resume: sessionId })
  expect(verdict).toMatchObject({ outcome: 'failed', category: 'session_missing' })
})

test('the system prompt goes before the first prompt of a new conversation, and our tools into its servers', async () => {
  const server = {
    type: 'http',
    name: 'pawl',
    url: 'http://127.0.0.1:1/mcp',
    headers: [{ name: 'Authorization', value: 'Bearer t' }],
  }
  const recording = (place: { workspace: string }) => [
    ...greeted({ mcpCapabilities: { http: true } }),
    hears({ id: 2, method: 'session/new', params: { cwd: place.workspace, mcpServers: [server] } }),
    says({ id: 2, result: { sessionId } }),
    hears({ id: 3, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'Be kind.\n\ngo' }] } }),
    ...done,
  ]
  const door = { url: 'http://127.0.0.1:1', token: 't' }
  const { verdict } = await play(recording, {}, { systemPrompt: 'Be kind.', tools: true, door })
  expect(verdict.outcome).toBe('succeeded')
})

test('an aborted turn is cancelled in the protocol, and another may follow', async () => {
  const stop = new AbortController()
  const again = [hears({ id: 4, method: 'session/prompt' }), chunk('again'), ends('end_turn', 4)]
  const { verdict, conversation } = await play(
    [...begins, chunk('so far'), update({ sessionUpdate: 'plan', entries: [] }), ...cancels, ...again],
    {
      signal: stop.signal,
      emit: ({ type }) => {
        if (type === 'agent.message') stop.abort()
      },
    },
  )
  expect(verdict).toMatchObject({ outcome: 'partial', text: 'so far', mayGoOn: true })
  expect(await conversation.turn({ ...noTurn, prompt: 'more' })).toMatchObject({ outcome: 'succeeded', text: 'again' })
})

test('a program that goes to work by itself between two turns is refused, told of, and gets no further turn', async () => {
  const { verdict, conversation, told } = await play([
    ...begins,
    ...done,
    update({ sessionUpdate: 'usage_update', used: 1, size: 2 }),
    update({ sessionUpdate: 'tool_call', ...toolCall, status: 'in_progress' }),
  ])
  expect(verdict.outcome).toBe('succeeded')
  await told
  expect(await conversation.turn({ ...noTurn, prompt: 'more' })).toMatchObject({ outcome: 'failed', category: 'crashed' })
})

const noTurn: Omit<Turn, 'prompt'> = {
  signal: new AbortController().signal,
  ask: async () => undefined,
  permit: async () => ({ allow: true }),
  emit: () => {},
}

type Hooks = Partial<Omit<Turn, 'emit'>> & { emit?: (event: AgentEvent) => unknown }
type Recording = object[] | ((place: { workspace: string }) => object[])

async function play(recording: Recording, hooks: Hooks = {}, more: Partial<LaunchSpec> = {}) {
  const place = await makePlace()
  const file = join(place.home, 'transcript.jsonl')
  const heard = join(place.home, 'heard.jsonl')
  const lines = typeof recording === 'function' ? recording(place) : recording
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'))
  const child = await launch({ file: fakeAcp, args: [], env: { FAKE_TRANSCRIPT: file, FAKE_HEARD: heard } }, place)
  onTestFinished(async () => {
    await child.stop({ graceMs: 0 })
    await expectProtocol(existsSync(heard) ? readFileSync(heard, 'utf8') : '')
  })
  const spec = { prompt: '', ...place, extraArgs: [], ...more, options: acp.options.parse(more.options ?? { command: fakeAcp }) }
  const events: AgentEvent[] = []
  const requests: PermissionRequest[] = []
  const conversation = await acp.open(child, spec)
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
  return { verdict, events, requests, conversation, told }
}

const schemasOf: Record<string, string> = {
  initialize: 'zInitializeRequest',
  authenticate: 'zAuthenticateRequest',
  'session/new': 'zNewSessionRequest',
  'session/load': 'zLoadSessionRequest',
  'session/resume': 'zResumeSessionRequest',
  'session/prompt': 'zPromptRequest',
  'session/cancel': 'zCancelNotification',
  'session/set_mode': 'zSetSessionModeRequest',
  'session/set_config_option': 'zSetSessionConfigOptionRequest',
}

/** All that we say is as the protocol's own library reads it. */
async function expectProtocol(heard: string): Promise<void> {
  const library = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'))
  const schemas: Record<string, z.ZodType> = await import(pathToFileURL(join(library, '../../schema/zod.gen.js')).href)
  for (const line of heard.trim().split('\n').filter(Boolean)) {
    const message = JSON.parse(line)
    expect(message.jsonrpc).toBe('2.0')
    if (message.method === undefined) {
      const { result } = message
      if (result) (result.action ? schemas.zCreateElicitationResponse : schemas.zRequestPermissionResponse)?.parse(result)
      continue
    }
    const schema = schemas[schemasOf[message.method] ?? '']
    expect(schema, message.method).toBeDefined()
    schema?.parse(message.params)
  }
}
