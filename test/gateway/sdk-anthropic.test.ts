import { describe, expect, it } from 'vitest'
import { wireNames } from '../../src/gateway/wires/wire.ts'
import { bothSaid, emptySchema, errorOf, firstInput, image, imageSeen, placeSchema, sdkStage, tokens } from './sdk-stage.ts'

/** What the tests use of `@anthropic-ai/sdk`. */
interface Library {
  readonly default: new (options: { baseURL: string; apiKey: string; maxRetries: number }) => Client
  readonly [error: string]: unknown
}
interface Client {
  readonly messages: {
    create(request: object): Promise<Answer>
    stream(request: object): AsyncIterable<{ type: string }> & { finalMessage(): Promise<Answer> }
    countTokens(request: object): Promise<{ input_tokens: number }>
  }
  readonly models: { list(): Promise<{ data: { id: string }[] }> }
}
interface Answer {
  readonly content: Block[]
  readonly stop_reason: string
  readonly usage: { input_tokens: number; cache_read_input_tokens: number; output_tokens: number }
}
interface Block {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly text?: string
  readonly thinking?: string
}

const here = sdkStage<Library, Client>(
  '@anthropic-ai/sdk',
  (library, baseURL, apiKey) => new library.default({ baseURL, apiKey, maxRetries: 0 }),
)

const request = (scenario: string, wire: string, more: object = {}) => ({
  model: `${scenario}.${wire}`,
  max_tokens: 4000,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})
const tools = [
  { name: 'first', description: 'The first.', input_schema: placeSchema },
  { name: 'second', description: 'The second.', input_schema: emptySchema },
]

describe.each(wireNames)("Anthropic's library on a model that is asked in the format %s", (wire) => {
  const asked = {
    whole: (body: object) => here.client.messages.create(body),
    streamed: (body: object) => here.client.messages.stream(body).finalMessage(),
  }

  it.each(['whole', 'streamed'] as const)('gets words and their price, %s', async (how) => {
    const answer = await asked[how](request('text', wire))
    const { input, cached, output } = tokens(wire)
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Hello from the scripted model.' }])
    expect(answer.stop_reason).toBe('end_turn')
    expect(answer.usage).toMatchObject({ input_tokens: input, cache_read_input_tokens: cached, output_tokens: output })
    expect(here.stage.billed()).toMatchObject({ inputTokens: input, cacheReadTokens: cached, outputTokens: output })
  })

  it('gets them as they come', async () => {
    const types: string[] = []
    for await (const event of here.client.messages.stream(request('text', wire))) types.push(event.type)
    expect(types.filter((type) => type === 'content_block_delta').length).toBeGreaterThan(3)
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop'])
  })

  it.each(['whole', 'streamed'] as const)('is asked for two calls at once and sends back both results, %s', async (how) => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 2000 } }
    const first = request('parallel-tools', wire, { tools, ...thinking })
    const answer = await asked[how](first)
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    expect(answer.stop_reason).toBe('tool_use')
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['first', firstInput],
      ['second', {}],
    ])
    expect(answer.content.map((block) => block.thinking ?? '').join('')).toBe('Two at once.')
    const results = calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, content: ['one', 'two'][index] }))
    const messages = [...first.messages, { role: 'assistant', content: answer.content }, { role: 'user', content: results }]
    const last = await asked[how]({ ...first, messages })
    expect(last.content.at(-1)?.text).toBe(bothSaid(wire))
  })

  it('shows an image', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: image }
    const content = [
      { type: 'image', source },
      { type: 'text', text: 'What is it?' },
    ]
    const answer = await here.client.messages.create(request('images', wire, { messages: [{ role: 'user', content }] }))
    expect(answer.content.at(-1)?.text).toBe(imageSeen)
  })

  it('counts tokens', async () => {
    const { max_tokens: _, ...body } = request('text', wire)
    expect((await here.client.messages.countTokens(body)).input_tokens).toBeGreaterThan(0)
  })

  it.each([
    ['rate-limit', 'RateLimitError', 429],
    ['auth', 'AuthenticationError', 401],
    ['forbidden', 'PermissionDeniedError', 403],
    ['not-found', 'NotFoundError', 404],
    ['context-overflow', 'BadRequestError', 400],
    ['server-error', 'InternalServerError', undefined],
    ['overloaded', 'InternalServerError', 529],
  ])('throws its own error for %s', async (scenario, name, status) => {
    for (const how of ['whole', 'streamed'] as const) {
      const error = await errorOf(asked[how](request(scenario, wire)))
      expect(error).toBeInstanceOf(here.library[name])
      if (status !== undefined) expect(error.status).toBe(status)
      if (scenario === 'rate-limit') expect(error.headers?.get('retry-after')).toBe('1')
      if (scenario === 'context-overflow' && how === 'streamed') expect(error.message).toMatch(/prompt is too long/i)
    }
  })

  it('throws its own error for one in the middle of a stream, and for a stream that is cut', async () => {
    const refused = await errorOf(here.client.messages.stream(request('overloaded-in-stream', wire)).finalMessage())
    expect(refused).toBeInstanceOf(here.library.APIError)
    expect(refused.message).toMatch(/overloaded|busy/i)
    const cut = await errorOf(here.client.messages.stream(request('cut', wire)).finalMessage())
    expect(cut).toBeInstanceOf(here.library.AnthropicError)
  })
})

it('is refused with a key that is not the token, and for a model that there is not', async () => {
  expect(await errorOf(here.stranger.messages.create(request('text', 'anthropic')))).toBeInstanceOf(
    here.library.AuthenticationError,
  )
  expect(await errorOf(here.client.messages.create(request('text', 'nowhere')))).toBeInstanceOf(here.library.NotFoundError)
})

it('lists the models of the run', async () => {
  const { data } = await here.client.models.list()
  expect(data.map(({ id }) => id)).toEqual(wireNames.map((wire) => `text.${wire}`))
})
