import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { version } from '../../base/version.ts'
import { conflict } from '../../domain/error.ts'
import { reading, type ToolVerbs, tool } from '../base/tool.ts'
import { createToolServer, type ToolServer } from './serve.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((closed) => server.close(closed))
})

type Call = ['consult', unknown] | ['notify', string]

async function serving(verbs: Partial<ToolVerbs> = {}) {
  const calls: Call[] = []
  const tools = createToolServer({
    async consult(questions) {
      calls.push(['consult', questions])
      return undefined
    },
    notify: async (text) => void calls.push(['notify', text]),
    ...verbs,
  })
  return { tools, calls, ...(await listen(tools)) }
}

async function listen(tools: ToolServer) {
  const server = createServer({ keepAlive: false }, (request, response) => {
    response.setHeader('connection', 'close')
    void tools.handle(request, response)
  })
  servers.push(server)
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  async function post(body: unknown, headers: Record<string, string> = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text })
    const answer = await response.text()
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      json: answer === '' ? undefined : JSON.parse(answer),
    }
  }
  const call = async (name: string, args?: unknown) => (await post(request('tools/call', { name, arguments: args }))).json
  return { url, post, call }
}

const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 7, method, params })
const clientInfo = { name: 'a-client', version: '1' }
const initialize = (protocolVersion: string) => request('initialize', { protocolVersion, capabilities: {}, clientInfo })

/** How a client of 2026-07-28 and later describes itself in each request. */
const selfDescribed = (method: string, params: Record<string, unknown> = {}) => ({
  body: request(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }),
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
  },
})

describe('the tool server', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'greets a client of %s as pawl, without a session',
    async (asked) => {
      const { post } = await serving()
      const { status, type, json } = await post(initialize(asked))
      expect({ status, type }).toEqual({ status: 200, type: 'application/json' })
      expect(json.result).toMatchObject({
        protocolVersion: asked,
        capabilities: { tools: {} },
        serverInfo: { name: 'pawl', version },
      })
      expect(
        (await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-protocol-version': asked })).status,
      ).toBe(202)
      const listed = await post(request('tools/list'), { 'mcp-protocol-version': asked })
      expect(listed.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual(['ask_user', 'send_message_to_user'])
    },
  )

  it('serves a client that describes itself in each request instead of greeting', async () => {
    const { post, calls } = await serving()
    const discover = selfDescribed('server/discover')
    expect((await post(discover.body, discover.headers)).json.result.supportedVersions).toContain('2026-07-28')
    const send = selfDescribed('tools/call', { name: 'send_message_to_user', arguments: { message: 'halfway' } })
    expect((await post(send.body, send.headers)).json.result.content).toEqual([{ type: 'text', text: 'sent' }])
    expect(calls).toEqual([['notify', 'halfway']])
    const listen = selfDescribed('subscriptions/listen', { notifications: {} })
    expect((await post(listen.body, listen.headers)).json.error.code).toBe(-32601)
  })

  it('describes each tool with a schema that refuses unknown keys, and as harmless', async () => {
    const { post } = await serving()
    const [ask, send] = (await post(request('tools/list'))).json.result.tools
    expect(ask.inputSchema).toMatchObject({ type: 'object', required: ['question'], additionalProperties: false })
    expect(Object.keys(ask.inputSchema.properties)).toEqual(['question', 'options', 'multiSelect'])
    expect(send.inputSchema).toMatchObject({ required: ['message'], additionalProperties: false })
    expect(ask.annotations).toMatchObject({ destructiveHint: false, openWorldHint: false })
  })

  it('gives a tool another name to a program that asks for it, and knows it by that name alone', async () => {
    const { post } = await serving()
    const as = { 'pawl-tool-name': 'send_message_to_user=tell_person' }
    const tools: { name: string }[] = (await post(request('tools/list'), as)).json.result.tools
    expect(tools.map(({ name }) => name).slice(0, 2)).toEqual(['ask_user', 'tell_person'])
    const send = (name: string) => post(request('tools/call', { name, arguments: { message: 'hi' } }), as)
    expect((await send('tell_person')).json.result.content).toEqual([{ type: 'text', text: 'sent' }])
    expect((await send('send_message_to_user')).json.error.message).toContain('There is no tool')
    const odd = (await post(request('tools/list'), { 'pawl-tool-name': 'ask_user=no such name' })).json.result.tools
    expect(odd[0].name).toBe('ask_user')
  })

  it('answers ask_user only when the question is stored, and tells the model to end its turn', async () => {
    const stored = Promise.withResolvers<undefined>()
    const asked = Promise.withResolvers<unknown>()
    const { call } = await serving({
      consult: (questions) => {
        asked.resolve(questions)
        return stored.promise
      },
    })
    let isAnswered = false
    const answer = call('ask_user', { question: 'Which colour?', options: ['red', 'blue'] }).finally(() => {
      isAnswered = true
    })
    expect(await asked.promise).toEqual([{ kind: 'free', text: 'Which colour?', options: ['red', 'blue'] }])
    expect(isAnswered).toBe(false)
    stored.resolve(undefined)
    const { result } = await answer
    expect(result.isError).toBeUndefined()
    expect(result.content[0].text).toMatch(/next message.*End your turn now/)
  })

  it('gives the answer of somebody who watches as the result of ask_user', async () => {
    const { call } = await serving({ consult: async () => ['blue'] })
    const { result } = await call('ask_user', { question: 'Which colour?' })
    expect(result.content[0].text).toBe('The user answered: blue')
  })

  it.each([
    ['ask_user', {}, '"question" of ask_user must be a text.'],
    ['ask_user', { question: '' }, '"question" of ask_user must not be empty.'],
    ['ask_user', { question: 'x', options: 'red' }, '"options" of ask_user must be a list.'],
    ['ask_user', { question: 'x', options: Array(21).fill('o') }, '"options" of ask_user must have at most 20 items.'],
    ['ask_user', { question: 'x', optoins: [] }, 'ask_user has no "optoins"; did you mean "options"?'],
    ['send_message_to_user', { message: 'x', attachments: [] }, 'send_message_to_user has no "attachments"; it takes message.'],
    ['send_message_to_user', undefined, '"message" of send_message_to_user must be a text.'],
  ])('tells the model what is wrong with %s %j', async (name, args, sentence) => {
    const { call, calls } = await serving()
    expect((await call(name, args)).result).toEqual({ content: [{ type: 'text', text: sentence }], isError: true })
    expect(calls).toEqual([])
  })

  it('passes a refusal of the engine on as a tool error, and hides any other failure', async () => {
    const { call } = await serving({
      consult: () => Promise.reject(conflict('This run is over.')),
      notify: () => Promise.reject(new Error('password=hunter2')),
    })
    expect((await call('ask_user', { question: 'x' })).result).toMatchObject({
      content: [{ text: 'This run is over.' }],
      isError: true,
    })
    const hidden = (await call('send_message_to_user', { message: 'x' })).result
    expect(hidden).toMatchObject({ content: [{ text: 'Pawl could not do this; its log says why.' }], isError: true })
  })

  it('offers subtasks to a run whose task may have some, and to no other', async () => {
    const made: unknown[] = []
    const one = { id: 't_1', name: 'one', state: 'completed' as const, text: 'well' }
    const subtasks = (mayCreate: boolean) => ({
      mayCreate,
      create: async (asked: unknown) => {
        made.push(asked)
        return { subtask: one, created: made.length === 1 }
      },
      list: async () => [one],
      get: async () => one,
      own: async () => ({ id: 't_0', name: null, prompt: '', parent: null, agent: '', subtasks: [] }),
    })
    const names = async (mayCreate: boolean) => {
      const { post } = await serving({ subtasks: subtasks(mayCreate) })
      return (await post(request('tools/list'))).json.result.tools.map((tool: { name: string }) => tool.name)
    }
    expect(await names(true)).toEqual(['ask_user', 'send_message_to_user', 'create_subtask', 'list_subtasks'])
    expect(await names(false)).toEqual(['ask_user', 'send_message_to_user'])
    const { call } = await serving({ subtasks: subtasks(true) })
    const said = async (name: string, given: unknown) => (await call(name, given)).result.content[0].text
    expect(await said('create_subtask', { name: 'one', prompt: 'do it' })).toMatch(
      /^Subtask t_1 \(one\) was made\. .*end your turn/,
    )
    expect(await said('create_subtask', { name: 'one', prompt: 'do it' })).toContain('not made again')
    expect(await said('create_subtask', { prompt: 'do it', profile: 'unattended-open' })).toContain('profile')
    // What a subtask says is somebody else's text: it cannot pass for ours.
    expect(await said('list_subtasks', {})).toBe('t_1 completed "one"; what it came to, in its own words:\n```text\nwell\n```')
    expect(made).toHaveLength(2)
  })

  it('answers what is no valid call with an error of the protocol', async () => {
    const { post, url } = await serving()
    const unknown = (await post(request('tools/call', { name: 'ask_usr', arguments: {} }))).json.error
    expect(unknown.code).toBe(-32602)
    expect(unknown.message).toContain('There is no tool "ask_usr"; did you mean "ask_user"?')
    expect(await post(request('no/such/method'))).toMatchObject({ status: 200, json: { id: 7, error: { code: -32601 } } })
    expect(await post('{"jsonrpc":')).toMatchObject({ status: 400, json: { error: { code: -32700 } } })
    expect(await post([initialize('2025-03-26')])).toMatchObject({ status: 400, json: { error: { code: -32600 } } })
    expect(await post('null')).toMatchObject({ status: 400, json: { error: { code: -32600 } } })
    const get = await fetch(url, { headers: { accept: 'text/event-stream' } })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(405)
  })

  it('refuses a message above 1 MiB and takes one just below', async () => {
    const { post } = await serving()
    const padded = (size: number) => {
      const text = JSON.stringify(request('ping', { padding: '' }))
      return text.replace('""', `"${'x'.repeat(size - text.length)}"`)
    }
    expect((await post(padded(1024 * 1024))).json).toMatchObject({ id: 7, result: {} })
    expect(await post(padded(1024 * 1024 + 1))).toMatchObject({ status: 413, json: { error: { code: -32000 } } })
  })

  it('closes when the call under way is answered, and refuses later ones', async () => {
    const stored = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const { tools, call, post } = await serving({
      notify: () => {
        begun.resolve()
        return stored.promise
      },
    })
    const answer = call('send_message_to_user', { message: 'x' })
    await begun.promise
    let isClosed = false
    const closed = tools.close().then(() => {
      isClosed = true
    })
    expect((await post(request('ping'))).status).toBe(409)
    expect(isClosed).toBe(false)
    stored.resolve()
    await closed
    expect((await answer).result.content[0].text).toBe('sent')
    await tools.close()
  })

  it('offers more tools to the runs that have them, and tells those under way that the run is over', async () => {
    const begun = Promise.withResolvers<void>()
    const waits = tool({
      name: 'Wait',
      description: 'Waits until nobody waits for it.',
      input: z.strictObject({ what: z.string() }),
      annotations: reading,
      async run({ what }, _, signal) {
        begun.resolve()
        await once(signal, 'abort')
        return `${what} ended`
      },
    })
    const verbs: ToolVerbs = { consult: async () => undefined, notify: async () => undefined }
    const tools = createToolServer(verbs, { more: [waits] })
    const { post, call } = await listen(tools)
    const listed = (await post(request('tools/list'))).json.result.tools
    expect(listed.map((each: { name: string }) => each.name)).toEqual(['ask_user', 'send_message_to_user', 'Wait'])
    expect(listed[2].annotations.readOnlyHint).toBe(true)
    const answer = call('Wait', { what: 'it' })
    await begun.promise
    await tools.close()
    expect((await answer).result.content[0].text).toBe('it ended')
  })

  it('lets a tool wind down when the program has hung up', async () => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const waits = tool({
      name: 'Wait',
      description: 'Waits until nobody waits for it.',
      input: z.strictObject({}),
      async run(_, __, signal) {
        begun.resolve()
        await once(signal, 'abort')
        ended.resolve()
        return 'ended'
      },
    })
    const verbs: ToolVerbs = { consult: async () => undefined, notify: async () => undefined }
    const { url } = await listen(createToolServer(verbs, { more: [waits] }))
    const hangUp = new AbortController()
    const body = JSON.stringify(request('tools/call', { name: 'Wait', arguments: {} }))
    const headers = { 'content-type': 'application/json' }
    const call = fetch(url, { method: 'POST', headers, body, signal: hangUp.signal }).catch((error: Error) => error.name)
    await begun.promise
    hangUp.abort()
    await ended.promise
    expect(await call).toBe('AbortError')
  })

  it('answers a message that came another way as it would over HTTP, and always under its number', async () => {
    const { tools, post, calls } = await serving()
    const { signal } = new AbortController()
    const send = request('tools/call', { name: 'send_message_to_user', arguments: { message: 'halfway' } })
    const unknown = request('tools/call', { name: 'send_a_message', arguments: {} })
    for (const message of [initialize('2025-11-25'), request('tools/list'), send, unknown, request('dance'), request('ping')])
      expect(await tools.exchange(message, { signal })).toEqual((await post(message)).json)
    expect(calls).toEqual([
      ['notify', 'halfway'],
      ['notify', 'halfway'],
    ])
    expect(await tools.exchange({ jsonrpc: '2.0', method: 'notifications/initialized' }, { signal })).toBeUndefined()
    for (const [message, server, why] of [
      [{ id: 7 }, undefined, expect.any(String)],
      [request('tools/list'), 'notes', 'There is no server of tools "notes" in this run.'],
    ] as const)
      expect(await tools.exchange(message, { server, signal })).toMatchObject({ id: 7, error: { message: why } })
    await tools.close()
    expect(await tools.exchange(send, { signal })).toMatchObject({ id: 7, error: { code: -32000 } })
    expect(calls).toHaveLength(2)
  })

  it('loads the protocol only when the first message comes', async () => {
    const program = `
      import { registerHooks } from 'node:module'
      import { createServer } from 'node:http'
      const loaded = []
      registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context) } })
      const { createToolServer } = await import(${JSON.stringify(new URL('./serve.ts', import.meta.url).href)})
      const tools = createToolServer({})
      const server = createServer((request, response) => tools.handle(request, response)).listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + server.address().port
        const isLoaded = () => loaded.some((name) => name.startsWith('@modelcontextprotocol/'))
        await fetch(url)
        const before = isLoaded()
        await fetch(url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })
        console.log(JSON.stringify({ before, after: isLoaded() }))
        process.exit()
      })`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(JSON.parse(stdout)).toEqual({ before: false, after: true })
  })
})
