import { expect, test } from 'vitest'
import { adapterNamed } from '../../agents/index.ts'
import { modelPrices } from '../../agents/shared/model-prices.ts'
import { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { createPrices } from '../../domain/money/prices.ts'
import { smallBudget } from './small-budget.ts'

const warning = (changes: Partial<ResolvedAgent>, { prompt = 'do it', variables = {} } = {}) => {
  const agent = ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'claude-sonnet-4-5',
    options: {},
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    graceMs: 1_000,
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    ...changes,
  })
  const adapter = adapterNamed(agent.adapter, agent.options)
  return smallBudget({ agent, adapter, prompt, prices: createPrices({}, modelPrices), environment: () => variables })
}

test('a budget below what the first request can cost is told of, with one that would do', async () => {
  expect(await warning({ budget: { usd: 0.01 } })).toBe(
    'The first request of claude-sonnet-4-5 can cost about $0.24, and $0.010 may be spent: the task would end before it begins. Use --budget-usd 0.40 or more.',
  )
  expect(await warning({ budget: { usd: 0.5 } })).toBeUndefined()
  expect(await warning({ budget: { usd: 5, perRunUsd: 0.1 } })).toMatch(/Use --budget-run-usd 0\.40 or more\.$/)
  expect(await warning({ budget: { usd: 0.3 } }, { prompt: 'a long story '.repeat(10_000) })).toContain('$0.3')
})

test('a model that nobody names is taken for the cheapest one of its maker', async () => {
  expect(await warning({ model: undefined, budget: { usd: 0.01 } })).toContain('first request of claude-haiku-4-5')
  expect(await warning({ model: undefined, budget: { usd: 0.1 } })).toBeUndefined()
  const codex = { adapter: 'codex', model: undefined, env: { pass: [], set: { OPENAI_API_KEY: 'key-0123456789' } } }
  expect(await warning({ ...codex, budget: { usd: 0.001 } })).toContain('first request of gpt-5-mini')
})

test('nothing is said where nobody can tell, or nothing is reserved', async () => {
  const small = { budget: { usd: 0.01 } }
  expect(await warning({ budget: {} })).toBeUndefined()
  expect(await warning({ budget: { usd: 0 } })).toBeUndefined()
  expect(await warning({ ...small, gateway: false })).toBeUndefined()
  expect(await warning({ ...small, model: 'a-model-that-nobody-knows' })).toBeUndefined()
  // It is logged in with its own login, past the gateway.
  expect(await warning({ ...small, env: { pass: [], set: {} } })).toBeUndefined()
  expect(await warning({ ...small, adapter: 'custom', options: { command: ['x'], wire: 'anthropic' } })).toBeUndefined()
})

test('a model that the settings list is priced by what its provider calls it', async () => {
  const models = {
    providers: { there: { kind: 'anthropic' as const, baseUrl: 'https://there.example' } },
    models: { fast: { provider: 'there', target: 'claude-opus-4-5' } },
  }
  expect(await warning({ model: 'fast', models, env: { pass: [], set: {} }, budget: { usd: 0.2 } })).toContain('claude-opus-4-5')
})
