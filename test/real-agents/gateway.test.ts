import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { ProviderKind, WireName } from '../../src/domain/agent/models.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import { fingerprint } from '../model-server/record.ts'
import { installedAgents } from './install.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
const realKey = 'sk-the-real-key-of-the-provider-0123456789'
beforeAll(async () => {
  machine = await startMachine()
  await writeFile(join(machine.home, 'provider.key'), `${realKey}\n`, { mode: 0o600 })
})
afterAll(() => machine.stop())

const [claude, codex] = programs as [Program, Program]

/** How each kind of provider is spoken to, and how it is shown the key. */
const kinds: Record<WireName, { kind: ProviderKind; api: string; shown: Record<string, string> }> = {
  anthropic: { kind: 'anthropic', api: '', shown: { 'x-api-key': fingerprint(realKey) } },
  'openai-responses': { kind: 'openai', api: '/v1', shown: { authorization: fingerprint(`Bearer ${realKey}`) } },
  'openai-chat': { kind: 'openai-compatible', api: '/v1', shown: { authorization: fingerprint(`Bearer ${realKey}`) } },
  gemini: { kind: 'gemini', api: '', shown: { 'x-goog-api-key': fingerprint(realKey) } },
  ollama: { kind: 'ollama', api: '', shown: { authorization: fingerprint(`Bearer ${realKey}`) } },
}
/** What the scripted server calls each format. */
const wireOf = (key: string) => [...new Set(machine.models.requestsOf(key).flatMap(({ wire }) => wire ?? []))]

let count = 0
/** An agent whose model is listed and served in this format, and the key under which the server remembers it. */
function listed(program: Program, wire: WireName, scenario: string, changes: Partial<ResolvedAgent> = {}) {
  const key = `gateway-${++count}`
  const { kind, api } = kinds[wire]
  const provider = {
    kind,
    baseUrl: `${machine.models.base(scenario, key)}${api}`,
    wire,
    key: { file: join(machine.home, 'provider.key') },
  }
  const { baseUrl: _, ...plain } = machine.agent(program, scenario, { env: { pass: [], set: {} } })
  const agent: ResolvedAgent = {
    ...plain,
    model: 'the-model',
    models: { providers: { there: provider }, models: { 'the-model': { provider: 'there', target: 'scripted-target' } } },
    ...changes,
  }
  return { agent, key }
}

const calls = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'model.called' ? [event.data] : []))
const usedTool = (events: readonly Event[]) => events.some(({ type }) => type === 'agent.tool_called')

describe.each(programs)('the real $agent with a key', (program) => {
  test('is served its own model by the gateway, byte for byte in its own format', async () => {
    const workspace = await machine.workspace()
    const agentConfig = machine.agent(program, 'tool')
    const { task, events } = await machine.run({ agentConfig, workspace })
    expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('scripted-tool') } })
    expect(usedTool(events)).toBe(true)
    const served = calls(events)
    expect(served.length).toBeGreaterThanOrEqual(2)
    expect(served.every(({ status }) => status === 200)).toBe(true)
    expect(events.filter(({ type }) => type === 'agent.usage')).toEqual([])
    expect(task.runs[0]?.usage?.inputTokens).toBeGreaterThan(0)
  })

  test('finds neither the key nor a file with it inside its walls, and works all the same', async () => {
    const workspace = await machine.workspace()
    const agentConfig = machine.agent(program, 'shell')
    const key = agentConfig.env.set[program.keyName]!
    const looks = [
      'env',
      "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
      `grep -rahoE 'key-of-${program.agent}-[a-z0-9-]+' "$HOME" . /tmp 2>/dev/null`,
    ]
    const prompt = `Run \`( ${looks.join(' ; ')} ) > seen.txt; echo looked\``
    const { task } = await machine.run({ agentConfig, workspace, prompt })
    expect(task.state).toBe('completed')
    const seen = readFileSync(join(workspace, 'seen.txt'), 'utf8')
    expect(seen).toContain('PAWL_DOOR_URL=')
    expect(seen).not.toContain(key)
    const asked = machine.models.requestsOf(keyOf(agentConfig)).filter(({ wire }) => wire !== undefined)
    const shown = asked.map(({ headers }) => headers['x-api-key'] ?? headers.authorization)
    expect([...new Set(shown)]).toEqual([fingerprint(program === claude ? key : `Bearer ${key}`)])
  })

  test('is parked until the time that its provider names', async () => {
    const askedAtMs = Date.now()
    const { task, events } = await machine.run({ agentConfig: machine.agent(program, 'limit-with-reset') })
    expect(task).toMatchObject({
      state: 'parked',
      reason: { kind: 'usage_limit' },
      runs: [{ outcome: 'failed', category: 'usage_limit' }],
    })
    expect(Math.abs(Date.parse(task.resumeAt ?? '') - askedAtMs - 7_200_000)).toBeLessThan(60_000)
    expect(calls(events).at(-1)).toMatchObject({ refusal: { kind: 'usage_limit' } })
  })

  test('is stopped over its budget before the call leaves', async () => {
    const agentConfig = machine.agent(program, 'text', { model: 'gpt-5-pro', budget: { usd: 0.000_01 } })
    const { task } = await machine.run({ agentConfig })
    expect(task).toMatchObject({ state: 'over_budget', runs: [{ outcome: 'over_budget', category: 'budget_exceeded' }] })
    expect(machine.models.requestsOf(keyOf(agentConfig)).filter(({ wire }) => wire !== undefined)).toEqual([])
  })

  test('goes past the gateway if its settings say so', async () => {
    const agentConfig = machine.agent(program, 'text', { gateway: false })
    const { task, events } = await machine.run({ agentConfig })
    expect(task.state).toBe('completed')
    expect(calls(events)).toEqual([])
    expect(events.some(({ type }) => type === 'agent.usage')).toBe(true)
  })
})

const keyOf = ({ baseUrl = '' }: ResolvedAgent) => /@([\w-]+)/.exec(baseUrl)?.[1] ?? ''

const foreign: { program: Program; wire: WireName }[] = [
  { program: claude, wire: 'openai-chat' },
  { program: claude, wire: 'openai-responses' },
  { program: claude, wire: 'gemini' },
  { program: claude, wire: 'ollama' },
  { program: codex, wire: 'anthropic' },
  { program: codex, wire: 'openai-chat' },
  { program: codex, wire: 'gemini' },
]
describe.each(foreign)('the real $program.agent on a model that is served as $wire', ({ program, wire }) => {
  test('uses its tools, and the provider is shown the key and its own name for the model', async () => {
    const workspace = await machine.workspace()
    const { agent: agentConfig, key } = listed(program, wire, 'tool')
    const { task, events } = await machine.run({ agentConfig, workspace })
    expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('Done. Tool said: ') } })
    expect(task.result?.text).toContain('scripted-tool')
    expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8')).toBe('scripted-tool\n')
    const asked = machine.models.requestsOf(key).filter((request) => request.wire !== undefined)
    expect(wireOf(key)).toHaveLength(1)
    expect(JSON.stringify([asked.map(({ path }) => path), asked.map(({ body }) => body)])).toContain('scripted-target')
    for (const { headers } of asked) expect(headers).toMatchObject(kinds[wire].shown)
    expect(calls(events)).toEqual(
      expect.arrayContaining([expect.objectContaining({ model: 'the-model', provider: 'there', target: 'scripted-target' })]),
    )
  })

  test('is parked until the time that its provider names', async () => {
    const askedAtMs = Date.now()
    const { task } = await machine.run({ agentConfig: listed(program, wire, 'limit-with-reset').agent })
    expect(task).toMatchObject({ state: 'parked', reason: { kind: 'usage_limit' } })
    expect(Math.abs(Date.parse(task.resumeAt ?? '') - askedAtMs - 7_200_000)).toBeLessThan(60_000)
  })
})

test.each(programs)(
  'the real $agent that waits for its next turn is served with a renewed key, and is not started anew',
  async (program) => {
    const workspace = await machine.workspace()
    const file = join(machine.home, `${program.agent}-rotating.key`)
    const { agent, key } = listed(program, program === claude ? 'anthropic' : 'openai-responses', 'echo-history')
    const agentConfig: ResolvedAgent = {
      ...agent,
      models: { ...agent.models!, providers: { there: { ...agent.models!.providers.there!, key: { file } } } },
    }
    await writeFile(file, 'the-first-key-0123456789')
    const first = await machine.run({ agentConfig, workspace })
    const pidOf = async () =>
      (await machine.daemon.runtime.health()).warm.find(({ session }) => session === first.task.session)?.pid
    const pid = await pidOf()
    expect(pid).toBeGreaterThan(0)
    await writeFile(file, 'the-second-key-0123456789')
    const next = await machine.run({ agentConfig, workspace, session: first.task.session, prompt: 'second' })
    expect(next.task).toMatchObject({
      state: 'completed',
      result: { text: expect.stringMatching(/prompts: first message \|.*second$/s) },
    })
    expect(await pidOf()).toBe(pid)
    const { headers } = machine.models.requestsOf(key).at(-1)!
    const shown = program === claude ? headers['x-api-key'] : headers.authorization
    expect(shown).toBe(fingerprint(program === claude ? 'the-second-key-0123456789' : 'Bearer the-second-key-0123456789'))
    expect(JSON.stringify([next, machine.logged])).not.toMatch(/the-(first|second)-key/)
  },
)

test.each(programs)('the real $agent without walls is served at a door of its own', async (program) => {
  const { agent, key } = listed(program, 'openai-chat', 'tool', { profile: 'unattended-open' })
  const workspace = await machine.workspace()
  const { task, events } = await machine.run({ agentConfig: agent, workspace })
  expect(task).toMatchObject({ state: 'completed', runs: [{ enforced: false }] })
  expect(calls(events).every(({ status, translated }) => status === 200 && translated === true)).toBe(true)
  for (const { headers } of machine.models.requestsOf(key)) expect(headers).toMatchObject(kinds['openai-chat'].shown)
})

test('a run whose key is not there is not begun, and says where it should be', async () => {
  const { agent } = listed(claude, 'anthropic', 'text')
  const there = { ...agent.models!.providers.there!, key: { env: 'A_KEY_THAT_NOBODY_HAS_SET' } }
  const { task } = await machine.run({ agentConfig: { ...agent, models: { ...agent.models!, providers: { there } } } })
  expect(task).toMatchObject({
    state: 'failed',
    reason: {
      kind: 'auth_failed',
      detail: 'The key of provider "there" is to be in A_KEY_THAT_NOBODY_HAS_SET, which is not set for Pawl.',
    },
  })
})

test('a run with a misspelt model, and no key or login for any other, is not begun and hears which was meant', async () => {
  const { agent } = listed(claude, 'anthropic', 'text', { model: 'the-modle' })
  const { task, events } = await machine.run({ agentConfig: agent })
  expect(task).toMatchObject({ state: 'failed', reason: { kind: 'bad_config' } })
  expect(task.reason?.detail).toMatch(
    /^The model "the-modle" is none of those that "models:" lists \(the-model\), .*did you mean "the-model"\?$/,
  )
  expect(events.some(({ type }) => type === 'run.started')).toBe(false)
})

test('the real claude goes on with a model that stands in for its own while that is away, and its key is nowhere in what is kept', async () => {
  const { agent } = listed(claude, 'openai-chat', 'overloaded')
  const spare = listed(claude, 'gemini', 'text')
  const { there } = agent.models!.providers
  const agentConfig: ResolvedAgent = {
    ...agent,
    models: {
      providers: { there: there!, spare: spare.agent.models!.providers.there! },
      models: { 'the-model': { provider: 'there' }, 'spare-model': { provider: 'spare' } },
    },
    fallbackModels: ['spare-model'],
  }
  const { task, events } = await machine.run({ agentConfig })
  expect(task.state).toBe('completed')
  expect(calls(events).at(-1)).toMatchObject({ target: 'spare-model', provider: 'spare', status: 200 })
  expect(JSON.stringify([task, events, machine.logged])).not.toContain(realKey)
})

test('the real claude thinks where its model says :mode=thinking; its provider sees the plain name, and our records have the whole one', async () => {
  const { agent, key } = listed(claude, 'anthropic', 'text', { model: 'the-model:mode=thinking' })
  const { task, events } = await machine.run({ agentConfig: agent })
  expect(task.state).toBe('completed')
  const asked = machine.models.requestsOf(key).filter(({ wire }) => wire === 'anthropic')
  expect(asked.length).toBeGreaterThan(0)
  expect(JSON.stringify(asked)).not.toContain('mode=thinking')
  expect(asked.map(({ body }) => (body as { model?: string }).model)).toEqual(asked.map(() => 'scripted-target'))
  const thinking = asked.map(({ body }) => (body as { thinking?: { type: string; budget_tokens?: number } }).thinking)
  expect(thinking.some((it) => it?.type === 'enabled' || it?.type === 'adaptive')).toBe(true)
  expect(new Set(calls(events).map(({ model }) => model))).toEqual(new Set(['the-model:mode=thinking']))
  expect(calls(events)[0]).toMatchObject({ target: 'scripted-target' })
})

test('the real claude gets no listed model but its own and those that its settings name', async () => {
  const { agent: plain } = listed(claude, 'anthropic', 'text')
  const agent = { ...plain, options: { ...plain.options, args: ['--model=big'] } }
  const { models } = agent
  const table = { ...models!, models: { ...models!.models, big: { provider: 'there', target: 'big-target' } } }
  const refused = await machine.run({ agentConfig: { ...agent, models: table } })
  expect(JSON.stringify(refused.task)).toContain("not this agent's to ask for; there are the-model")
  const { task, events } = await machine.run({ agentConfig: { ...agent, models: table, allowedModels: ['big'] } })
  expect(task.state).toBe('completed')
  expect(calls(events)[0]).toMatchObject({ model: 'big', target: 'big-target' })
})

test('the real claude is told which models there are when it asks for another', async () => {
  const { agent } = listed(claude, 'anthropic', 'text')
  const { task } = await machine.run({ agentConfig: { ...agent, options: { ...agent.options, args: ['--model=another'] } } })
  expect(task.state).toBe('failed')
  expect(JSON.stringify(task)).toContain('there are the-model')
})

describe('programs that nobody has an adapter for, pointed at the gateway by hand', () => {
  /** Sees the programs, which lie in a cache of the user who runs the tests. */
  async function byHand(script: string, wire: WireName, provider: WireName, scenario: string) {
    const { modules } = await installedAgents()
    const { agent, key } = listed(claude, provider, scenario)
    const mount = {
      name: 'programs',
      description: '',
      source: dirname(modules),
      path: dirname(modules),
      mode: 'ro',
      persistent: false,
      required: true,
    } as const
    const rights = resolveProfile('mine', { mine: { extends: 'guarded', mounts: [mount] } })
    const agentConfig = ResolvedAgent.parse({
      ...agent,
      name: 'by-hand',
      adapter: 'custom',
      profile: 'mine',
      rights,
      options: { command: ['sh', '-c', script], wire },
    })
    const workspace = await machine.workspace()
    // Where there is none, walls keep its place with a folder, which opencode takes for a file that it cannot read.
    for (const name of ['opencode.json', 'opencode.jsonc']) await writeFile(join(workspace, name), '{}')
    const ran = await machine.run({ agentConfig, workspace, prompt: 'first message' })
    return { ...ran, workspace, key }
  }
  const geminiScript = async () => {
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }
    return [
      `mkdir -p "$HOME/.gemini" && printf %s '${JSON.stringify(settings)}' > "$HOME/.gemini/settings.json"`,
      'export GEMINI_API_KEY="$PAWL_MODEL_KEY" GOOGLE_GEMINI_BASE_URL="$PAWL_MODEL_URL" GEMINI_CLI_NO_RELAUNCH=true',
      `exec ${process.execPath} ${(await installedAgents()).gemini} -p "$(cat)" -m "$PAWL_MODEL" -o text --approval-mode yolo`,
    ].join('\n')
  }
  const opencodeScript = async () => {
    const config = {
      model: 'pawl/the-model',
      small_model: 'pawl/the-model',
      provider: {
        pawl: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: '{env:PAWL_MODEL_URL}', apiKey: '{env:PAWL_MODEL_KEY}' },
          models: { 'the-model': { name: 'The model' } },
        },
      },
    }
    return [
      'export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_DEFAULT_PLUGINS=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1',
      `export OPENCODE_CONFIG_CONTENT='${JSON.stringify(config)}'`,
      `exec ${(await installedAgents()).opencode} run "$(cat)"`,
    ].join('\n')
  }

  // In their own formats their adapters have them served, which their scenarios show.
  test.each([
    { program: 'gemini', wire: 'gemini', script: geminiScript },
    { program: 'opencode', wire: 'openai-chat', script: opencodeScript },
  ] as const)(
    'the real $program uses its tools on a model that is served as anthropic',
    async ({ wire, script }) => {
      const { task, workspace, key } = await byHand(await script(), wire, 'anthropic', 'tool')
      expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('scripted-tool') } })
      expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8')).toBe('scripted-tool\n')
      const asked = machine.models.requestsOf(key).filter((request) => request.wire !== undefined)
      for (const { headers } of asked) expect(headers).toMatchObject(kinds.anthropic.shown)
    },
    60_000,
  )
})
