import { describe, expect, test } from 'vitest'
import { accountOf } from '../../domain/agent/account.ts'
import { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import type { ModelTable } from '../../domain/agent/models.ts'
import type { Provider } from '../../gateway/base/route.ts'
import { createRouting, type RoutingParts } from './routing.ts'

const table: ModelTable = {
  providers: {
    maker: { kind: 'openai', baseUrl: 'https://api.openai.com/v1', key: { env: 'MAKER_KEY' } },
    here: { kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', wire: 'ollama' },
  },
  models: {
    big: { provider: 'maker', aliases: ['large'], maxOutputTokens: 100 },
    small: { provider: 'here', target: 'qwen3:8b' },
  },
}
const own: Provider = {
  name: 'claude',
  wire: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  key: async () => 'own',
  account: 'a',
}
const routing = (parts: Partial<RoutingParts> = {}) =>
  createRouting({
    table,
    allowed: ['big', 'small'],
    serverTools: false,
    fallbackModels: [],
    wire: 'anthropic',
    otherwise: undefined,
    keyOf: (name) => async () => `key of ${name}`,
    ...parts,
  })

describe('the routes of a run', () => {
  test('lead from a name, an alias or a name with a mode to the provider and its own name for the model', async () => {
    for (const asked of ['big', 'large', 'big:mode=thinking']) {
      const [route, ...more] = routing().routesOf(asked)
      expect(route).toMatchObject({ model: 'big', target: 'big', maxOutputTokens: 100, provider: { name: 'maker' } })
      expect(await route!.provider.key()).toBe('key of maker')
      expect(more).toEqual([])
    }
    expect(routing().routesOf('small')[0]).toMatchObject({ target: 'qwen3:8b', provider: { wire: 'ollama' } })
  })

  test('refuse what is not listed with what there is, and the nearest of it', () => {
    expect(() => routing().routesOf('larg')).toThrow(
      'The model "larg" is not served here; there are big, large, small; did you mean "large"?',
    )
    expect(() => routing().routesOf('claude-sonnet-4-5')).toThrow(/there are big, large, small\.$/)
  })

  test('lead to the own endpoint of an agent for all that is not listed', () => {
    const both = routing({ otherwise: own })
    expect(both.routesOf('claude-sonnet-4-5:mode=thinking')).toEqual([
      { model: 'claude-sonnet-4-5', target: 'claude-sonnet-4-5', provider: own },
    ])
    expect(both.routesOf('small')[0]?.provider.name).toBe('here')
  })

  test('lead only to those models that the agent may ask for, and its own endpoint gets the others', () => {
    const few = routing({ allowed: ['large'] })
    expect(few.models).toEqual(['big', 'large'])
    expect(() => few.routesOf('small')).toThrow("is not this agent's to ask for; there are big, large.")
    expect(routing({ allowed: ['big'], fallbackModels: ['small'] }).models).toEqual(['big', 'large', 'small'])
    expect(routing({ allowed: ['big'], otherwise: own }).routesOf('small')[0]?.provider).toBe(own)
  })

  test('tell whether a provider may use tools of its own: as it is set, or as the run itself may', () => {
    const providers = { maker: { ...table.providers.maker!, serverTools: true }, here: table.providers.here! }
    const set = (serverTools: boolean) => routing({ table: { ...table, providers }, serverTools })
    expect(set(false).routesOf('big')[0]?.provider.serverTools).toBe(true)
    expect([true, false].map((open) => set(open).routesOf('small')[0]?.provider.serverTools)).toEqual([true, false])
  })

  test('go on to the models that stand in for it, each once and in their order', () => {
    const routes = (asked: string) =>
      routing({ fallbackModels: ['small', 'big'] })
        .routesOf(asked)
        .map(({ model }) => model)
    expect(routes('big')).toEqual(['big', 'small'])
    expect(routes('small')).toEqual(['small', 'big'])
  })

  test('speak to OpenAI in the format of the program, so that nothing need be translated', () => {
    expect(routing({ wire: 'openai-chat' }).routesOf('big')[0]?.provider.wire).toBe('openai-chat')
    expect(routing({ wire: 'openai-responses' }).routesOf('big')[0]?.provider.wire).toBe('openai-responses')
    expect(routing({ wire: 'gemini' }).routesOf('big')[0]?.provider.wire).toBe('openai-responses')
  })
})

describe('the account of an agent', () => {
  const agent = (changes: Partial<ResolvedAgent>) =>
    accountOf(ResolvedAgent.parse({ name: 'a', adapter: 'claude-code', models: table, ...changes }))
  const maker = 'provider maker · https://api.openai.com/v1 · $MAKER_KEY'

  test('is that of the provider of its model, whatever its program is', () => {
    expect(agent({ model: 'large:mode=thinking' })).toBe(maker)
    expect(agent({ model: 'big', adapter: 'codex' })).toBe(maker)
    expect(routing().routesOf('big')[0]?.provider.account).toBe(maker)
  })

  test('is its own past the gateway, and for a model that is not listed', () => {
    expect(agent({ model: 'big', gateway: false })).toBe('claude-code · login')
    expect(agent({ model: 'other' })).toBe('claude-code · login')
  })

  test('is all of them together where one stands in for another', () => {
    expect(agent({ model: 'big', fallbackModels: ['small'] })).toBe(`${maker} > provider here · http://127.0.0.1:11434`)
  })
})
