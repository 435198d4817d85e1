import { describe, expect, it } from 'vitest'
import { wireNames } from '../../src/gateway/wires/wire.ts'
import { bothSaid, emptySchema, errorOf, firstInput, image, imageSeen, placeSchema, sdkStage, tokens } from './sdk-stage.ts'

/** What the tests use of `openai`. */
interface Library {
  readonly default: new (options: { baseURL: string; apiKey: string; maxRetries: number }) => Client
  readonly [error: string]: unknown
}
interface Client {
  readonly responses: {
    create(request: object): Promise<Response>
    stream(request: object): AsyncIterable<{ type: string }> & { finalResponse(): Promise<Response> }
  }
  readonly chat: {
    readonly completions: {
      create(request: object): Promise<Completion>
      stream(request: object): AsyncIterable<object> & { finalChatCompletion(): Promise<Completion> }
    }
  }
  readonly models: { list(): Promise<{ data: { id: string }[] }> }
}
interface Response {
  readonly status: string
  readonly output_text: string
  readonly output: { type: string; call_id?: string; name?: string; arguments?: string; summary?: { text: string }[] }[]
  readonly usage: { input_tokens: number; input_tokens_details: { cached_tokens: number }; output_tokens: number }
}
interface Completion {
  readonly choices: { message: Message; finish_reason: string }[]
  readonly usage?: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number }; completion_tokens: number }
}
interface Message {
  readonly content: string | null
  readonly tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

const here = sdkStage<Library, Client>(
  'openai',
  (library, url, apiKey) => new library.default({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }),
)

const errors = [
  ['rate-limit', 'RateLimitError', 429],
  ['auth', 'AuthenticationError', 401],
  ['forbidden', 'PermissionDeniedError', 403],
  ['not-found', 'NotFoundError', 404],
  ['context-overflow', 'BadRequestError', 400],
  ['server-error', 'InternalServerError', undefined],
  ['overloaded', 'InternalServerError', 503],
] as const

async function throwsItsOwn(scenario: string, name: string, status: number | undefined, asked: Promise<unknown>) {
  const error = await errorOf(asked)
  expect(error).toBeInstanceOf(here.library[name])
  if (status !== undefined) expect(error.status).toBe(status)
  if (scenario === 'rate-limit') expect(error.headers?.get('retry-after')).toBe('1')
  if (scenario === 'context-overflow') expect(error.code).toBe('context_length_exceeded')
}

describe.each(wireNames)("OpenAI's library, by Responses, on a model that is asked in the format %s", (wire) => {
  const request = (scenario: string, more: object = {}) => ({
    ...{ model: `${scenario}.${wire}`, input: [{ role: 'user', content: 'hello' }], store: false },
    ...more,
  })
  const tools = [
    { type: 'function', name: 'first', description: 'The first.', parameters: placeSchema, strict: false },
    { type: 'function', name: 'second', description: 'The second.', parameters: emptySchema, strict: false },
  ]
  const asked = {
    whole: (body: object) => here.client.responses.create(body),
    streamed: (body: object) => here.client.responses.stream(body).finalResponse(),
  }

  it.each(['whole', 'streamed'] as const)('gets words and their price, %s', async (how) => {
    const answer = await asked[how](request('text'))
    const { input, cached, output } = tokens(wire)
    expect([answer.output_text, answer.status]).toEqual(['Hello from the scripted model.', 'completed'])
    expect(answer.usage).toMatchObject({
      ...{ input_tokens: input + cached, input_tokens_details: { cached_tokens: cached }, output_tokens: output },
    })
    expect(here.stage.billed()).toMatchObject({ inputTokens: input, cacheReadTokens: cached, outputTokens: output })
  })

  it('gets them as they come', async () => {
    const types: string[] = []
    for await (const event of here.client.responses.stream(request('text'))) types.push(event.type)
    expect(types.filter((type) => type === 'response.output_text.delta').length).toBeGreaterThan(3)
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
  })

  it.each(['whole', 'streamed'] as const)('is asked for two calls at once and sends back both results, %s', async (how) => {
    const more = { tools, reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
    const first = request('parallel-tools', more)
    const answer = await asked[how](first)
    const calls = answer.output.filter((item) => item.type === 'function_call')
    expect(calls.map(({ name, arguments: json = '' }) => [name, JSON.parse(json)])).toEqual([
      ['first', firstInput],
      ['second', {}],
    ])
    const thoughts = answer.output.flatMap((item) => item.summary ?? [])
    expect(thoughts.map(({ text }) => text).join('')).toBe('Two at once.')
    const results = calls.map(({ call_id }, index) => ({
      ...{ type: 'function_call_output', call_id, output: ['one', 'two'][index] },
    }))
    const last = await asked[how]({ ...first, input: [...first.input, ...answer.output, ...results] })
    expect(last.output_text).toBe(bothSaid(wire))
  })

  it('shows an image', async () => {
    const content = [
      { type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' },
      { type: 'input_text', text: 'What is it?' },
    ]
    const answer = await here.client.responses.create(request('images', { input: [{ role: 'user', content }] }))
    expect(answer.output_text).toBe(imageSeen)
  })

  it.each(errors)('throws its own error for %s', async (scenario, name, status) => {
    await throwsItsOwn(scenario, name, status, asked.whole(request(scenario)))
    await throwsItsOwn(scenario, name, status, asked.streamed(request(scenario)))
  })

  it('throws for a refusal in the middle of a stream, and for a stream that is cut', async () => {
    expect((await errorOf(asked.streamed(request('overloaded-in-stream')))).message).not.toBe('')
    expect((await errorOf(asked.streamed(request('cut')))).message).not.toBe('')
  })
})

describe.each(wireNames)("OpenAI's library, by Chat Completions, on a model that is asked in the format %s", (wire) => {
  const request = (scenario: string, more: object = {}) => ({
    ...{ model: `${scenario}.${wire}`, messages: [{ role: 'user', content: 'hello' }] },
    ...more,
  })
  const tool = (name: string, parameters: object) => ({ type: 'function', function: { name, description: 'One.', parameters } })
  const tools = [tool('first', placeSchema), tool('second', emptySchema)]
  const asked = {
    whole: (body: object) => here.client.chat.completions.create(body),
    streamed: (body: object) =>
      here.client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion(),
  }

  it.each(['whole', 'streamed'] as const)('gets words and their price, %s', async (how) => {
    const answer = await asked[how](request('text'))
    const { input, cached, output } = tokens(wire)
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Hello from the scripted model.' }, finish_reason: 'stop' })
    expect(answer.usage).toMatchObject({
      ...{ prompt_tokens: input + cached, prompt_tokens_details: { cached_tokens: cached }, completion_tokens: output },
    })
    expect(here.stage.billed()).toMatchObject({ inputTokens: input, cacheReadTokens: cached, outputTokens: output })
  })

  it('is billed though it does not ask for the usage', async () => {
    const answer = await here.client.chat.completions.stream(request('text')).finalChatCompletion()
    if (wire === 'openai-chat') expect(answer.usage).toBeUndefined()
    expect(here.stage.billed()).toMatchObject({ outputTokens: tokens(wire).output })
  })

  it.each(['whole', 'streamed'] as const)('is asked for two calls at once and sends back both results, %s', async (how) => {
    const first = request('parallel-tools', { tools })
    const answer = await asked[how](first)
    const { message, finish_reason } = answer.choices[0]!
    const calls = message.tool_calls ?? []
    expect(finish_reason).toBe('tool_calls')
    expect(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual([
      ['first', firstInput],
      ['second', {}],
    ])
    const results = calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: ['one', 'two'][index] }))
    const last = await asked[how]({ ...first, messages: [...first.messages, message, ...results] })
    expect(last.choices[0]?.message.content).toMatch(/^Both said: one \| two\./)
    // Whoever sends back the message as it came sends back the seal too, where the format has a place for it.
    if (how === 'whole') expect(last.choices[0]?.message.content).toBe(bothSaid(wire))
  })

  it('shows an image', async () => {
    const content = [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
      { type: 'text', text: 'What is it?' },
    ]
    const answer = await here.client.chat.completions.create(request('images', { messages: [{ role: 'user', content }] }))
    expect(answer.choices[0]?.message.content).toBe(imageSeen)
  })

  it.each(errors)('throws its own error for %s', async (scenario, name, status) => {
    await throwsItsOwn(scenario, name, status, asked.whole(request(scenario)))
    await throwsItsOwn(scenario, name, status, asked.streamed(request(scenario)))
  })

  it('throws for a refusal in the middle of a stream, and for a stream that is cut', async () => {
    expect((await errorOf(asked.streamed(request('overloaded-in-stream')))).message).not.toBe('')
    expect((await errorOf(asked.streamed(request('cut')))).message).not.toBe('')
  })
})

it('is refused with a key that is not the token, and for a model that there is not', async () => {
  const ask = (by: Client, model: string) => errorOf(by.responses.create({ model, input: 'hello' }))
  expect(await ask(here.stranger, 'text.anthropic')).toBeInstanceOf(here.library.AuthenticationError)
  expect(await ask(here.client, 'text.nowhere')).toBeInstanceOf(here.library.NotFoundError)
})

it('lists the models of the run', async () => {
  const { data } = await here.client.models.list()
  expect(data.map(({ id }) => id)).toEqual(wireNames.map((wire) => `text.${wire}`))
})
