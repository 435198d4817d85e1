import { expect, test } from 'vitest'
import { custom } from '../agents/custom/agent.ts'
import { findModel } from '../domain/agent/models.ts'
import { jsonSchema } from './json-schema.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

const adapters = [custom]
const settings = `agents:
  a: { adapter: custom, command: [x], modelFlag: --model, model: fast, fallbackModels: [local, big], gateway: true }
providers:
  maker: { kind: openai, key: { secret: OPENAI } }
  other: { kind: openai-compatible, baseUrl: "https://models.example.com/v1/", key: { file: ./key } }
  responses: { kind: openai-compatible, baseUrl: "https://r.example.com/v1", wire: openai-responses, key: { env: R_KEY } }
  here: { kind: ollama }
  unused: { kind: gemini }
models:
  fast: { provider: other, target: vendor/fast-1, aliases: [quick], maxOutputTokens: 4096 }
  big: { provider: maker }
  wide: { provider: responses }
  local: { provider: here, target: "qwen3:8b" }
`

test('an agent takes the models of the settings along, with everything about their providers decided', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, settings)
  const config = await machine.load({ adapters })
  const [agent] = config.agents
  expect(agent).toMatchObject({ model: 'fast', fallbackModels: ['local', 'big'], gateway: true })
  expect(agent?.models).toEqual({
    providers: {
      maker: { kind: 'openai', baseUrl: 'https://api.openai.com/v1', key: { secret: 'OPENAI' } },
      other: {
        kind: 'openai-compatible',
        baseUrl: 'https://models.example.com/v1',
        wire: 'openai-chat',
        key: { file: `${machine.home}/key` },
      },
      responses: {
        kind: 'openai-compatible',
        baseUrl: 'https://r.example.com/v1',
        wire: 'openai-responses',
        key: { env: 'R_KEY' },
      },
      here: { kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', wire: 'ollama' },
    },
    models: {
      fast: { provider: 'other', target: 'vendor/fast-1', aliases: ['quick'], maxOutputTokens: 4096 },
      big: { provider: 'maker' },
      wide: { provider: 'responses' },
      local: { provider: 'here', target: 'qwen3:8b' },
    },
  })
  const rows = showConfig(config)
  expect(rows.filter(({ path }) => path.startsWith('agents.a.models'))).toEqual([])
  expect(rows.find(({ path }) => path === 'providers.unused.baseUrl')?.value).toBe('https://generativelanguage.googleapis.com')
  expect(rows.find(({ path }) => path === 'providers.maker.key.secret')?.value).toBe('OPENAI')
})

test('a model is found by its name or an alias, whatever mode stands behind it, and by nothing that is only like it', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, settings)
  const { models: table } = (await machine.load({ adapters })).agents[0]!
  expect(findModel(table, 'quick')).toMatchObject({ name: 'fast', target: 'vendor/fast-1' })
  expect(findModel(table, 'big:mode=thinking')?.name).toBe('big')
  for (const other of ['fast-1', 'fas', '*', 'toString', '']) expect(findModel(table, other)).toBeUndefined()
})

const refusals: [what: string, written: string, sentence: string | RegExp][] = [
  [
    'a kind with a typo',
    'providers: { p: { kind: antropic } }\n',
    'providers.p.kind in pawl.yaml:1:19 must be one of anthropic, openai, openai-compatible, gemini, ollama; "antropic" is none, did you mean "anthropic".',
  ],
  [
    'an unknown key',
    'providers: { p: { kind: ollama, baseURL: "http://x" } }\n',
    /Unknown key "baseURL" .*did you mean "baseUrl"\?$/,
  ],
  [
    'a password in an address',
    'providers: { p: { kind: ollama, baseUrl: "http://me:hunter2@x.example" } }\n',
    /^providers\.p\.baseUrl in (?!.*hunter2).* without a user name, password/,
  ],
  [
    'a key in the query of an address',
    'providers: { p: { kind: gemini, baseUrl: "https://x.example/v1?key=hunter2" } }\n',
    /^providers\.p\.baseUrl in (?!.*hunter2).* query or fragment/,
  ],
  ['a provider that is nobody', 'providers: { p: { kind: openai-compatible } }\n', /^providers\.p\.baseUrl .*must say where/],
  [
    'a format that a kind does not have',
    'providers: { p: { kind: gemini, wire: openai-chat } }\n',
    /^providers\.p\.wire .*gemini speaks one format only\.$/,
  ],
  ['a model of nobody', 'models: { m: { provider: p } }\n', /names a provider "p", which does not exist/],
  [
    'a name for two models',
    'providers: { p: { kind: ollama } }\nmodels: { m: { provider: p, aliases: [x] }, n: { provider: p, aliases: [m] } }\n',
    'models.n.aliases[0] in pawl.yaml:2:73: "m" is already a name of the model "m".',
  ],
  [
    'a fallback that is not listed',
    'agents: { a: { adapter: custom, command: [x], fallbackModels: [smal] } }\nproviders: { p: { kind: ollama } }\nmodels: { small: { provider: p } }\n',
    /^agents\.a\.fallbackModels\[0\] .*names a model "smal", which does not exist; did you mean "small"\?$/,
  ],
]
test.each(refusals)('%s is refused', async (_, written, sentence) => {
  using machine = new Machine()
  machine.write(machine.projectFile, written)
  await expect(machine.load({ adapters })).rejects.toThrow(sentence)
})

test('a project that nobody trusts brings no model, no provider and no way past the gateway', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, settings)
  machine.write(
    machine.projectFile,
    `agents: { a: { model: big, gateway: false, fallbackModels: [big], models: [local] } }
providers: { maker: { kind: anthropic, baseUrl: "http://evil.example" } }
models: { fast: { provider: maker } }
`,
  )
  const config = await machine.load({ adapters })
  expect(config.untrusted?.keys).toEqual([
    'agents.a.fallbackModels',
    'agents.a.models',
    'agents.a.gateway',
    'providers.maker',
    'models.fast',
  ])
  expect(config.agents[0]).toMatchObject({ model: 'big', gateway: true, fallbackModels: ['local', 'big'] })
  expect(JSON.stringify(config.agents[0]?.models)).not.toContain('evil')
})

test('an agent names other models that it may ask for, and a provider whether it may do things itself', async () => {
  using machine = new Machine()
  const provider =
    'providers: { p: { kind: ollama, serverTools: true } }\nmodels: { small: { provider: p }, big: { provider: p } }\n'
  machine.write(
    machine.homeFile,
    `agents: { a: { adapter: custom, command: [x], modelFlag: --model, model: small, models: [big] } }\n${provider}`,
  )
  const [agent] = (await machine.load({ adapters })).agents
  expect(agent).toMatchObject({ model: 'small', allowedModels: ['big'], models: { providers: { p: { serverTools: true } } } })
  machine.write(machine.homeFile, `agents: { a: { adapter: custom, command: [x], models: [bigg] } }\n${provider}`)
  await expect(machine.load({ adapters })).rejects.toThrow('names a model "bigg", which does not exist; did you mean "big"?')
})

test('the published schema knows providers and models', () => {
  const text = JSON.stringify(jsonSchema(adapters))
  for (const word of ['"openai-compatible"', '"fallbackModels"', '"maxOutputTokens"', '"secret"']) expect(text).toContain(word)
})
