import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../../src/agents/claude-code/agent.ts'
import type { ClaudeCodeOptions } from '../../src/agents/claude-code/options.ts'
import type { LaunchSpec, Permission, PermissionRequest } from '../../src/agents/port.ts'
import type { ToolExchange } from '../../src/domain/agent/tool-exchange.ts'
import type { AgentEvent } from '../../src/domain/event/event.ts'
import type { Utterance } from '../../src/domain/event/transcript.ts'
import type { QuestionAsked } from '../../src/domain/question/question.ts'
import type { ToolVerbs } from '../../src/tools/base/tool.ts'
import { createToolServer } from '../../src/tools/mcp/serve.ts'
import { makePlace } from '../contracts/adapter.ts'
import { launch, type Place } from '../contracts/launch.ts'
import { fingerprint } from '../model-server/record.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { installedAgents } from './install.ts'

let model: ModelServer
let program: string
let searchPath: string
beforeAll(async () => {
  model = await startModelServer({ scenarios: { 'ask-once': askOnce } })
  const installed = await installedAgents()
  program = installed.claude
  searchPath = installed.searchPath
})
afterAll(() => model.close())

const id = '11111111-1111-4111-8111-111111111111'
const askOnce = {
  about: 'Asks at the first prompt only.',
  steps: [
    {
      text: 'I need to ask.',
      toolCall: { tool: 'ask', args: { question: 'Which colour?', header: 'Colour', options: ['Red', 'Blue'] } },
    },
    { text: 'Never to be said.', stall: {}, repeat: 'always' as const },
  ],
  laterSteps: [{ text: '{{userCount}} prompts: {{allUsers}}' }],
}

test('it is found on the search path, as the file itself and with its version', async () => {
  const health = await claudeCode.probe(claudeCode.options.parse({}), { path: `${searchPath}:/usr/bin:/bin` })
  expect(health).toMatchObject({ installed: true, healthy: true, version: expect.stringMatching(/^2\.\d+\.\d+$/) })
  expect(health.program).not.toContain('/.bin/')
})

test('it answers under the id it was given, warm for the next turn, and can be resumed by another process', async () => {
  const place = await makePlace()
  const first = await open({ scenario: 'echo-history', place, newSession: id })
  const one = await first.turn('remember the apple')
  expect(one.verdict).toMatchObject({
    outcome: 'succeeded',
    text: '1 prompts: remember the apple',
    vendorSession: id,
    mayGoOn: true,
  })
  expect(one.events.map((event) => event.type)).toEqual(['agent.session', 'agent.usage', 'agent.message', 'agent.usage'])
  const two = await first.turn('and the pear')
  expect(two.verdict).toEqual({ ...one.verdict, text: '2 prompts: remember the apple | and the pear' })
  expect(await first.end()).toEqual({ code: 0, signal: null })
  expect(await readdir(join(place.home, '.claude/projects'), { recursive: true })).toContainEqual(
    expect.stringMatching(`/${id}.jsonl$`),
  )

  const second = await open({ scenario: 'echo-history', place, resume: id })
  const three = await second.turn('--help me')
  expect(three.verdict).toEqual({ ...one.verdict, text: '3 prompts: remember the apple | and the pear | --help me' })
})

test('it finds nothing to add to what a new home is given for its first start', async () => {
  const place = await makePlace()
  const stateIn = async () => JSON.parse(await readFile(join(place.home, '.claude/.claude.json'), 'utf8'))
  const { turn } = await open({ scenario: 'text', place, version: claudeCode.tried?.to })
  const given = await stateIn()
  await turn('go')
  const { pluginUsage, ...after } = await stateIn()
  expect(after).toEqual(given)
})

test.each([
  ['allowed', { allow: true }, ['tool-out.txt']],
  ['denied', { allow: false, message: 'Nothing is written here.' }, []],
] as const)('a tool is asked for, and the agent goes on when it is %s', async (_, permission, files) => {
  const place = await makePlace()
  const { turn } = await open({ scenario: 'tool', place, permission })
  const { verdict, events, requests } = await turn('go')
  expect(requests).toEqual([
    { tool: 'Bash', input: expect.objectContaining({ command: expect.stringContaining('tool-out.txt') }) },
  ])
  expect(verdict.outcome).toBe('succeeded')
  expect(await readdir(place.workspace)).toEqual(files)
  expect(events.find((event) => event.type === 'agent.tool_returned')?.data).toMatchObject({ isError: !permission.allow })
})

test('neither a repository nor the agent itself can plant settings', async () => {
  const place = await makePlace()
  const planted = JSON.stringify({ permissions: { allow: ['Bash'] }, env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } })
  for (const folder of [place.workspace, place.home]) {
    await mkdir(join(folder, '.claude'))
    await writeFile(join(folder, '.claude/settings.json'), planted)
    await writeFile(join(folder, '.claude/settings.local.json'), planted)
  }
  const { turn } = await open({ scenario: 'tool', place })
  const { verdict, requests } = await turn('go')
  expect(verdict.outcome).toBe('succeeded')
  expect(requests).toHaveLength(1)
})

test('a question ends the turn as blocked; the answer is the next prompt, for this process and for another', async () => {
  const place = await makePlace()
  const first = await open({ scenario: 'ask-once', place, newSession: id })
  const { verdict, questions } = await first.turn('paint it')
  expect(questions).toEqual([{ kind: 'free', text: expect.stringContaining('Which colour?'), options: ['Red', 'Blue'] }])
  expect(verdict).toMatchObject({ outcome: 'blocked', text: 'I need to ask.', vendorSession: id, mayGoOn: true })
  expect((await first.turn('Red')).verdict).toMatchObject({ outcome: 'succeeded', text: '2 prompts: paint it | Red' })
  await first.end()
  const second = await open({ scenario: 'echo-history', key: 'answer', place, resume: id })
  expect((await second.turn('no, Blue')).verdict).toMatchObject({
    outcome: 'succeeded',
    text: '3 prompts: paint it | Red | no, Blue',
  })
  expect(JSON.stringify(model.requestsOf('answer')[0]?.body)).toContain('passed on to the user')
})

test('our tools come over its pipe and need no permission, and the token of the door stands in no file', async () => {
  const place = await makePlace()
  const asked: unknown[] = []
  const { turn, end } = await open({
    scenario: 'mcp-ask',
    place,
    tools: true,
    door: {
      url: '',
      token: '',
      exchange: ownTools({
        async consult(questions) {
          asked.push(...questions)
          return ['green']
        },
      }),
    },
    env: { PAWL_DOOR_URL: 'http://127.0.0.1:9', PAWL_DOOR_TOKEN: 'door-secret' },
  })
  for (const prompt of ['go', 'again']) {
    const { verdict, events, requests } = await turn(prompt)
    expect(verdict).toMatchObject({ outcome: 'succeeded', mayGoOn: true })
    expect(requests).toEqual([])
    if (prompt === 'again') break
    expect(verdict.text).toContain('green')
    expect(events.find((event) => event.type === 'agent.tool_called')?.data).toMatchObject({ tool: 'mcp__pawl__ask_user' })
  }
  expect(asked).toMatchObject([{ text: 'Which colour?' }])
  await end()
  for (const entry of await readdir(place.home, { recursive: true, withFileTypes: true })) {
    // What it started may still tidy up, and remove a file that was listed.
    const text = entry.isFile() ? await readFile(join(entry.parentPath, entry.name), 'utf8').catch(() => '') : ''
    expect(text).not.toContain('door-secret')
  }
})

test('a turn that is stopped in the middle of one of our tools takes the call back', async () => {
  const stopping = new AbortController()
  const taken = Promise.withResolvers<void>()
  const exchange: ToolExchange = (message, about) => {
    const isCall = 'method' in message && message.method === 'tools/call'
    if (!isCall) return ownTools()(message, about)
    stopping.abort()
    return new Promise((_, reject) =>
      about.signal.addEventListener('abort', () => {
        taken.resolve()
        reject(new Error('taken back'))
      }),
    )
  }
  const { turn } = await open({ scenario: 'mcp-ask', tools: true, door: { url: '', token: '', exchange } })
  const { verdict } = await turn('go', { signal: stopping.signal })
  await taken.promise
  expect(verdict.outcome).not.toBe('succeeded')
})

test('instructions are told, also when they change in a resumed conversation', async () => {
  const place = await makePlace()
  for (const [key, spec] of Object.entries({ old: { newSession: id }, new: { resume: id } })) {
    const { turn, end } = await open({ scenario: 'text', key, place, systemPrompt: `- MARK-${key}`, ...spec })
    await turn('go')
    await end()
    const told = JSON.stringify(model.requestsOf(key)[0]?.body)
    expect(told.match(/MARK-\w+/g)).toEqual([`MARK-${key}`])
  }
})

test('an answer can be held to a schema, and a model can be made to think', async () => {
  const outputSchema = {
    type: 'object',
    properties: { answer: { type: 'number' }, reason: { type: 'string' } },
    required: ['answer'],
  }
  const { turn } = await open({ scenario: 'structured', key: 'schema', outputSchema, model: 'claude-sonnet-4-5:mode=thinking' })
  const { verdict } = await turn('go')
  expect(verdict.outcome).toBe('succeeded')
  expect(JSON.parse(verdict.text)).toEqual({ answer: 42, reason: 'scripted' })
  expect(model.requestsOf('schema')[0]?.body).toMatchObject({ model: 'claude-sonnet-4-5', thinking: { budget_tokens: 16_000 } })
})

test('a turn that is stopped keeps what was said, and the next one goes on', async () => {
  const place = await makePlace()
  const { turn } = await open({ scenario: 'long-tool', place, newSession: id })
  const stop = new AbortController()
  const running = turn('work', { signal: stop.signal })
  await expect.poll(() => exists(join(place.workspace, 'long-tool-alive.txt')), { timeout: 15_000 }).toBe(true)
  stop.abort()
  expect((await running).verdict).toMatchObject({ outcome: 'partial', text: 'This takes long.', vendorSession: id })
  expect((await turn('what happened?')).verdict).toMatchObject({
    outcome: 'succeeded',
    text: expect.stringContaining('2 prompts'),
  })
})

test.each([
  ['auth', 'auth_failed'],
  ['forbidden', 'auth_failed'],
  ['credit', 'auth_failed'],
  ['not-found', 'bad_config'],
  ['context-overflow', 'context_overflow'],
  ['rate-limit', 'rate_limited'],
  ['overloaded', 'overloaded'],
  ['server-error', 'network'],
  ['cut', 'network'],
] as const)('%s is told as %s, at once and without any answer', async (scenario, category) => {
  const { turn } = await open({ scenario })
  const { verdict } = await turn('go')
  expect(verdict).toMatchObject({ outcome: 'failed', category, text: '', message: expect.stringMatching(/\w/) })
  expect(verdict.mayGoOn).toBeUndefined()
})

test('a used-up plan is told with the time at which it works again', async () => {
  const { turn } = await open({
    scenario: 'limit-with-reset',
    env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake' },
  })
  const { verdict } = await turn('go')
  expect(verdict).toMatchObject({ outcome: 'failed', category: 'usage_limit' })
  const waitMs = (verdict.retryAt?.getTime() ?? 0) - Date.now()
  expect(Math.abs(waitMs - 7_200_000)).toBeLessThan(60_000)
})

test('turns and money are held to, and the run says which it was', async () => {
  const turns = await open({ scenario: 'loop', maxTurns: 2, permission: { allow: true } })
  expect((await turns.turn('go')).verdict).toMatchObject({
    outcome: 'failed',
    category: 'max_turns',
    text: expect.stringMatching(/\w/),
  })
  const money = await open({ scenario: 'expensive', maxUsd: 0.01 })
  expect((await money.turn('go')).verdict).toMatchObject({ outcome: 'failed', category: 'budget_exceeded' })
})

test('a conversation that is gone is told as such, and goes on when it is rebuilt from what was recorded', async () => {
  const place = await makePlace()
  const gone = await open({ scenario: 'echo-history', place, resume: id })
  const missing = await gone.turn('go on')
  expect(missing.verdict).toMatchObject({ outcome: 'failed', category: 'session_missing', vendorSession: undefined })
  expect(missing.events.map((event) => event.type)).not.toContain('agent.session')

  const at = new Date().toISOString()
  const transcript: Utterance[] = [
    { kind: 'user', text: 'remember the plum', at },
    { kind: 'tool', callId: 'c1', tool: 'Bash', input: { command: 'ls' }, output: 'plum.txt', isError: false, at },
    { kind: 'tool', callId: 'c2', tool: 'Bash', input: { command: 'rm' }, isError: false, at },
    { kind: 'agent', text: 'I shall.', at },
  ]
  const { path, content } = claudeCode.sessions!.rebuild!(transcript, { vendorId: id, workspace: place.workspace })
  await mkdir(dirname(join(place.home, path)), { recursive: true })
  await writeFile(join(place.home, path), content)
  const rebuilt = await open({ scenario: 'echo-history', key: 'rebuilt', place, resume: id })
  expect((await rebuilt.turn('go on')).verdict).toMatchObject({ text: '2 prompts: remember the plum | go on', vendorSession: id })
  expect(JSON.stringify(model.requestsOf('rebuilt')[0]?.body)).toMatch(/plum\.txt.*nobody knows how it ended.*I shall\./)

  const taken = await open({ scenario: 'text', place, newSession: id })
  expect((await taken.turn('go')).verdict).toMatchObject({ outcome: 'failed', category: 'session_missing' })
})

test.each([
  ['variable', {}, 'the-key'],
  ['script', { script: 'the-printed-key' }, 'the-printed-key'],
  ['login', { login: 'the-token' }, 'Bearer the-token'],
] as const)('it is let in by a %s', async (kind, given, secret) => {
  const place = await makePlace()
  const script = join(place.home, 'key helper.sh')
  if ('script' in given) await writeFile(script, `#!/bin/sh\necho ${given.script}\n`, { mode: 0o700 })
  if ('login' in given) {
    await mkdir(join(place.home, '.claude'))
    const claudeAiOauth = {
      accessToken: given.login,
      refreshToken: 'r',
      expiresAt: Date.now() + 3_600_000,
      scopes: ['user:inference'],
    }
    await writeFile(join(place.home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }))
  }
  const { turn } = await open({
    scenario: 'text',
    key: kind,
    place,
    access: 'script' in given ? { kind: 'script', path: script } : undefined,
    env: { ANTHROPIC_API_KEY: kind === 'variable' ? 'the-key' : '' },
  })
  expect((await turn('go')).verdict.outcome).toBe('succeeded')
  const { headers } = model.requestsOf(kind).at(-1)!
  expect([headers['x-api-key'], headers.authorization]).toContain(fingerprint(secret))
})

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

interface Given extends Partial<LaunchSpec<ClaudeCodeOptions>> {
  readonly scenario: string
  readonly key?: string
  readonly place?: Place
  readonly permission?: Permission
  readonly env?: Record<string, string>
}

async function open({ scenario, key, place, permission = { allow: true }, env, ...given }: Given) {
  const where = place ?? (await makePlace())
  const spec: LaunchSpec<ClaudeCodeOptions> = {
    options: claudeCode.options.parse({}),
    prompt: '',
    ...where,
    program,
    model: 'claude-sonnet-4-5',
    baseUrl: model.base(scenario, key),
    extraArgs: [],
    ...given,
  }
  const child = await launch(claudeCode.command(spec), where, { ANTHROPIC_API_KEY: 'dummy', ...env })
  const conversation = await claudeCode.open(child, spec)
  const end = async () => {
    await conversation.close()
    return child.stop({ graceMs: 0 })
  }
  onTestFinished(async () => void (await end()))
  async function turn(prompt: string, { signal = new AbortController().signal } = {}) {
    const events: AgentEvent[] = []
    const questions: QuestionAsked[] = []
    const requests: PermissionRequest[] = []
    const verdict = await conversation.turn({
      prompt,
      signal,
      emit: (event) => void events.push(event),
      async ask(asked) {
        questions.push(...asked)
        return undefined
      },
      async permit(request) {
        requests.push(request)
        return permission
      },
    })
    expect(events.filter((event) => event.type === 'agent.unknown')).toEqual([])
    return { verdict, events, questions, requests }
  }
  return { turn, end }
}

/** Pawl's own tools, as a run has them. */
const ownTools = (verbs: Partial<ToolVerbs> = {}): ToolExchange =>
  createToolServer({ consult: async () => undefined, notify: async () => {}, ...verbs }).exchange
