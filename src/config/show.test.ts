import { expect, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema } from './json-schema.ts'
import { findAgent } from './load.ts'
import { showConfig } from './show.ts'
import { initTemplate } from './template.ts'
import { adapters, Machine } from './testing.ts'

const example = `agents:
  claude:  { adapter: custom, command: [x], model: m1, profile: guarded, budget: { usd: 5, perAgentDayUsd: 50 }, timeout: 30m }
  helper:  { adapter: custom, command: [./my-agent, --batch], prompt: stdin, output: text, env: { MODE: fast } }
  local:   { adapter: demo, options: { pace: 3 } }
providers:
  one: { kind: anthropic, baseUrl: "https://api.example.com", key: { env: ONE_API_KEY } }
models:
  m1: { provider: one }
limits: { running: 4, perAgent: { claude: 2 } }
`

test('what is in force is shown with its source, in the words of the files', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, example)
  const rows = new Map(
    showConfig(await machine.load({ env: { PAWL_PORT: '1' } })).map(({ path, value, source }) => [path, [value, source]]),
  )
  const file = machine.homeFile
  expect(Object.fromEntries(rows)).toMatchObject({
    home: [machine.home, 'default'],
    'agents.claude.timeout': ['30m', `${file}:2`],
    'agents.claude.idleTimeout': ['5m', 'default'],
    'agents.claude.profile': ['guarded', `${file}:2`],
    'agents.helper.profile': ['guarded', 'default'],
    'agents.helper.options.output': ['text', `${file}:3`],
    'agents.claude.options.output': ['text', 'default'],
    'agents.claude.budget.usd': [5, `${file}:2`],
    'agents.helper.retries': [2, 'default'],
    'limits.perAgent.claude': [2, `${file}:9`],
    'models.m1.provider': ['one', `${file}:8`],
    'providers.one.key.env': ['ONE_API_KEY', `${file}:6`],
    'server.port': [1, 'env PAWL_PORT'],
    'timeouts.total': ['1d', 'default'],
  })
})

test('no secret is shown', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `agents:
  a:
    adapter: custom
    command: [x, --api-key, hunter1, --token=hunter2, "http://u:hunter3@h/?api_key=hunter4", --fast]
    env: { HARMLESS: hunter5 }
database: { url: "postgres://u:hunter7@h/db" }
`,
  )
  const shown = showConfig(await machine.load())
  expect(JSON.stringify(shown)).not.toContain('hunter')
  expect(shown.find((row) => row.path === 'agents.a.options.command')?.value).toEqual([
    'x',
    '--api-key',
    '***',
    '--token=***',
    'http://u:***@h/?api_key=***',
    '--fast',
  ])
  expect(shown.find((row) => row.path === 'database.url')?.value).toBe('postgres://u:***@h/db')
})

test('an option of an adapter that is named like a secret is masked', async () => {
  using machine = new Machine()
  const secretive = [
    {
      name: 'odd',
      options: z.strictObject({ apiKey: z.string(), entry: z.strictObject({ password: z.string() }), monkey: z.string() }),
    },
  ]
  machine.write(
    machine.homeFile,
    'agents: { a: { adapter: odd, apiKey: hunter, entry: { password: hunter }, monkey: banana } }\n',
  )
  const shown = showConfig(await machine.load({ adapters: secretive }))
  expect(JSON.stringify(shown)).not.toContain('hunter')
  expect(JSON.stringify(shown)).toContain('banana')
})

test('the published schema accepts what is accepted and refuses what is refused', async () => {
  const published = jsonSchema(adapters)
  expect(published.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
  const schema = z.fromJSONSchema(published as Parameters<typeof z.fromJSONSchema>[0])
  const accepts = (value: unknown) => schema.safeParse(value).success
  const { parse } = await import('yaml')
  expect(accepts(parse(example))).toBe(true)
  expect(accepts({ agents: null })).toBe(true)
  expect(
    accepts({ agents: { a: { adapter: 'custom', command: ['x'], options: { output: 'json' }, timeout: 30, env: ['A'] } } }),
  ).toBe(true)
  expect(accepts({ agent: {} })).toBe(false)
  expect(accepts({ agents: { a: { adapter: 'nope' } } })).toBe(false)
  expect(accepts({ agents: { a: { adapter: 'custom', modle: 'x' } } })).toBe(false)
  expect(accepts({ agents: { a: { adapter: 'custom', options: { modle: 'x' } } } })).toBe(false)
  expect(accepts({ timeouts: { total: 'soon' } })).toBe(false)
  expect(
    accepts({
      profiles: { mine: { extends: 'strict', mounts: ['/data:ro', { path: '/a', mode: 'rw' }], limits: { memory: '4g' } } },
    }),
  ).toBe(true)
  expect(accepts({ profiles: { mine: { netwrok: {} } } })).toBe(false)
  expect(accepts({ env: ['A', 'B=1'], users: { ann: { env: { C: 1 } } } })).toBe(true)
})

test('the file that pawl init writes changes nothing as it stands', async () => {
  using machine = new Machine()
  const { files: _, again: ___, ...before } = await machine.load()
  machine.write(machine.projectFile, initTemplate(adapters))
  const { files: __, again: ____, ...after } = await machine.load()
  expect(after).toEqual(before)
})

test('every example in the file that pawl init writes is right', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, initTemplate(adapters).replace(/^# /gm, ''))
  const config = await machine.load({ flags: { trust: true } })
  expect(findAgent(config, config.defaultAgent ?? '')).toMatchObject({
    adapter: 'custom',
    timeoutMs: 86_400_000,
    budget: { usd: 5 },
  })
  expect(config.sources).toMatchObject({
    'limits.running': expect.stringMatching(/^pawl\.yaml:\d+$/),
    'retry.maxDelay': expect.stringMatching(/^pawl/),
  })
  machine.write(machine.projectFile, initTemplate(adapters.filter((adapter) => adapter.name === 'demo')).replace(/^# /gm, ''))
  expect((await machine.load({ adapters: adapters.filter((adapter) => adapter.name === 'demo') })).defaultAgent).toBe('demo')
})

test('explanations in that file stay explanations when the examples are used', () => {
  const lines = initTemplate(adapters).split('\n')
  expect(lines.filter((line) => line !== '' && !/^(## |# )/.test(line))).toEqual([])
  expect(initTemplate(adapters)).not.toMatch(/\n\n\n/)
})
