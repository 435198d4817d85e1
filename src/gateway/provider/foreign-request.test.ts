import { afterEach, describe, expect, it } from 'vitest'
import { ask, provider, route, routingOf, startProvider, startStage } from '../../../test/gateway/stage.ts'
import type { Provider } from '../base/route.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { WireName } from '../wires/wire.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function staged(
  wire: WireName,
  answer: (body: JsonObject) => object | { refused: number; error: object },
  options: Parameters<typeof startStage>[1] & { more?: Partial<Provider> } = {},
) {
  const maker = await startProvider((_, response) => {
    const body = JSON.parse(maker.seen.at(-1)!.body.toString()) as JsonObject
    const said = answer(body)
    response.statusCode = 'refused' in said ? (said.refused as number) : 200
    response.setHeader('content-type', 'application/json').end(JSON.stringify('refused' in said ? said.error : said))
  })
  closers.push(maker.close)
  const { more, ...rest } = options
  const stage = await startStage(
    routingOf(
      route('fast', provider('maker', wire, maker.url, more), { target: 'real' }),
      route('other', provider('another', wire, maker.url, more), { target: 'real' }),
    ),
    rest,
  )
  closers.push(stage.close)
  const sent = () => JSON.parse(maker.seen.at(-1)!.body.toString())
  const say = async (path: string, body: object) =>
    JSON.parse((await ask(stage.url + path, { body: JSON.stringify(body) })).body.toString())
  return { maker, stage, sent, say }
}

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const chatCall = (name: string) => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
})

describe('names of tools', () => {
  const long = `mcp__${'a-server-with-a-long-name__'.repeat(3)}tool.one`
  const twin = `${long}s`
  it('that the provider does not take are shortened for it, the same in every request, and the client sees its own', async () => {
    const { say, sent } = await staged('openai-chat', (body) =>
      chatCall((body.tools as { function: { name: string } }[])[0]!.function.name),
    )
    const tools = [long, twin, 'plain'].map((name) => ({ name, input_schema: { type: 'object' } }))
    const asked = { model: 'fast', max_tokens: 100, tools, messages: [{ role: 'user', content: 'x' }] }
    const got = await say('/v1/messages', asked)
    const names = sent().tools.map((tool: { function: { name: string } }) => tool.function.name)
    expect(names[2]).toBe('plain')
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/)
    expect(got.content).toMatchObject([{ type: 'tool_use', name: long }])
    const results = [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }]
    const messages = [...asked.messages, { role: 'assistant', content: got.content }, { role: 'user', content: results }]
    await say('/v1/messages', { ...asked, messages, tool_choice: { type: 'tool', name: long } })
    expect(sent().messages[1].tool_calls[0].function.name).toBe(names[0])
    expect(sent().tool_choice.function.name).toBe(names[0])
  })
})

describe('near a cap', () => {
  const grants = () => 9_000
  const messages = [{ role: 'user', content: 'x' }]
  it.each<[WireName, (body: JsonObject) => unknown]>([
    ['openai-chat', (body) => body.max_tokens],
    ['openai-responses', (body) => body.max_output_tokens],
    ['gemini', (body) => (body.generationConfig as JsonObject).maxOutputTokens],
    ['ollama', (body) => (body.options as JsonObject).num_predict],
  ])('a translated request is bounded to what is left, for %s', async (wire, bound) => {
    const { say, sent, stage } = await staged(wire, () => ({}), { grants })
    await say('/v1/messages', { model: 'fast', max_tokens: 64_000, messages })
    expect(bound(sent())).toBe(9_000)
    expect(stage.ledger.reserved).toMatchObject([{ outputTokens: 64_000, leastOutputTokens: 4_096 }])
  })
})

it('a client of Chat Completions hears of the usage of a stream only if it asks', async () => {
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const maker = await startProvider((_, response) =>
    response
      .setHeader('content-type', 'text/event-stream')
      .end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')),
  )
  closers.push(maker.close)
  const stage = await startStage(routingOf(route('fast', provider('maker', 'anthropic', maker.url))))
  closers.push(stage.close)
  const asked = { model: 'fast', stream: true, messages: [{ role: 'user', content: 'x' }] }
  const say = async (more: object) =>
    (await ask(`${stage.url}/v1/chat/completions`, { body: JSON.stringify({ ...asked, ...more }) })).body.toString()
  expect(await say({})).not.toContain('"usage"')
  expect(await say({ stream_options: { include_usage: true } })).toContain('"completion_tokens":2')
  expect(stage.calls.map((call) => call.usage?.outputTokens)).toEqual([2, 2])
})

describe('seals', () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA-of-maker' }
  const response = {
    ...{ id: 'r', object: 'response', status: 'completed', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
    output: [thought, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
  }

  it('of one provider are not shown to another of the same format', async () => {
    const { say, sent } = await staged('openai-responses', () => response)
    const asked = { model: 'fast', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] }
    const { content } = await say('/v1/messages', asked)
    const messages = [...asked.messages, { role: 'assistant', content }, { role: 'user', content: 'more' }]
    await say('/v1/messages', { ...asked, messages })
    expect(sent().input).toContainEqual(thought)
    await say('/v1/messages', { ...asked, model: 'other', messages })
    expect(JSON.stringify(sent())).not.toContain('gAAA')
  })

  it('that a provider of the client’s own format refuses are left out for it from then on, and its own are kept', async () => {
    const refused = {
      refused: 400,
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
      },
    }
    const answer = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'thinking', thinking: 'Hm', signature: 'own' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    const { say, maker, stage } = await staged('anthropic', (body) =>
      JSON.stringify(body).includes('"foreign"') ? refused : answer,
    )
    const assistant = (signature: string) => ({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature },
        { type: 'text', text: 'Hi' },
      ],
    })
    const user = { role: 'user', content: 'x' }
    const asked = { model: 'fast', max_tokens: 100, messages: [user, assistant('foreign'), user] }
    expect(await say('/v1/messages', asked)).toEqual(answer)
    expect(maker.seen).toHaveLength(2)
    expect(stage.ledger).toMatchObject({ open: 0, released: [{ status: 400 }], settled: [{ status: 200 }] })
    expect(await say('/v1/messages', { ...asked, messages: [...asked.messages, assistant('own'), user] })).toEqual(answer)
    expect(maker.seen).toHaveLength(3)
    const last = maker.seen.at(-1)!.body.toString()
    expect(last).toContain('"own"')
    expect(last).not.toContain('"foreign"')
  })
})

it('who pays goes by the key, and a path that is not there is named', async () => {
  const { maker, stage } = await staged('openai-chat', () => ({ refused: 404, error: { error: { message: 'Not Found' } } }))
  const headers = { 'OpenAI-Organization': 'org-x', 'openai-project': 'p', 'x-goog-user-project': 'q', 'x-own': 'yes' }
  await ask(`${stage.url}/v1/chat/completions`, { body: '{"model":"fast","messages":[]}', headers })
  expect(Object.keys(maker.seen[0]!.headers)).toEqual(
    expect.not.arrayContaining(['openai-organization', 'openai-project', 'x-goog-user-project']),
  )
  expect(maker.seen[0]!.headers['x-own']).toBe('yes')
  expect(stage.calls[0]!.refusal?.message).toBe(`Not Found (404 at ${maker.url}/v1/chat/completions)`)
})

describe('a search for tools, as Codex does it', () => {
  const search = {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  }
  const asked = { model: 'fast', input: [{ role: 'user', content: 'x' }], tools: [search] }

  it('is a tool to models of others, and what it found is offered from then on', async () => {
    const { say, sent } = await staged('openai-chat', () => {
      const call = chatCall('tool_search')
      call.choices[0]!.message.tool_calls[0]!.function.arguments = '{"query":"mail"}'
      return call
    })
    const { output } = await say('/v1/responses', asked)
    expect(output).toMatchObject([{ type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: { query: 'mail' } }])
    const found = {
      type: 'tool_search_output',
      call_id: 'a',
      execution: 'client',
      status: 'completed',
      tools: [{ type: 'namespace', name: 'mail', tools: [{ type: 'function', name: 'send', parameters: {} }] }],
    }
    await say('/v1/responses', { ...asked, input: [...asked.input, ...output, found] })
    expect(sent().tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['tool_search', 'mail__send'])
    expect(sent().messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'tool_search', arguments: '{"query":"mail"}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'These tools are now offered: mail__send.' },
    ])
  })
})

describe('what only the provider can do', () => {
  const asked = {
    model: 'fast',
    max_tokens: 100,
    messages: [],
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
  }
  it('is refused in the client’s words, and nothing is sent', async () => {
    const { say, maker, stage } = await staged('anthropic', () => ({}))
    expect(await say('/v1/messages', asked)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: /web_search/ },
    })
    expect([maker.seen, stage.ledger.reserved]).toEqual([[], []])
  })

  it('passes where it is allowed, and its fees are reserved', async () => {
    const { say, maker, stage } = await staged('anthropic', () => ({}), { more: { serverTools: true } })
    await say('/v1/messages', asked)
    expect(JSON.parse(maker.seen[0]!.body.toString()).tools).toEqual(asked.tools)
    expect(stage.ledger.reserved).toMatchObject([{ pieces: { web_search_requests: 3 } }])
  })
})
