import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/engine/until.ts'
import { PawlError } from '../../domain/error.ts'
import type { ModelDoor } from '../../gateway/serving/gateway.ts'
import { createToolServer } from '../../tools/mcp/serve.ts'
import { type DoorOptions, type DoorVerbs, serveDoor } from './endpoint.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const token = 'the-token-of-this-door'

async function opened(options: Partial<DoorOptions> = {}) {
  const listener: Server = createServer()
  await new Promise<void>((up) => listener.listen(0, '127.0.0.1', up))
  const door = serveDoor(listener, { token, ...options })
  closers.push(() => door.close())
  const { port } = listener.address() as AddressInfo
  async function ask(route: string, body?: unknown, authorization = `Bearer ${token}`) {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: sent })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  return { door, port, listener, ask }
}

function run(name: string, verbs: Partial<DoorVerbs> = {}) {
  const calls: unknown[] = []
  const all: DoorVerbs = {
    describe: () => ({ task: 'task_1', run: name, attempt: 1 }),
    consult: async () => undefined,
    ask: async (question) => {
      calls.push(question)
      return { id: 'question_1' }
    },
    notify: async (text) => void calls.push(text),
    ...verbs,
  }
  return { ...all, calls }
}

describe('the door', () => {
  it('serves the run that holds it', async () => {
    const { door, ask } = await opened()
    const holder = run('run_1')
    await door.bind(holder)
    expect(await ask('GET /v1/run')).toEqual({ status: 200, body: { task: 'task_1', run: 'run_1', attempt: 1 } })
    expect(await ask('POST /v1/questions', { text: 'Which?' })).toEqual({ status: 202, body: { id: 'question_1' } })
    expect(await ask('POST /v1/messages', { text: 'Halfway.' })).toEqual({ status: 202, body: { sent: true } })
    expect(holder.calls).toEqual([{ kind: 'free', text: 'Which?', options: [] }, 'Halfway.'])
  })

  it('lets nobody inside write what looks like a request for permission', async () => {
    const { door, ask } = await opened()
    const holder = run('run_1')
    await door.bind(holder)
    const text = 'May this task connect to example.com:443?'
    expect((await ask('POST /v1/questions', { kind: 'permission', text })).status).toBe(202)
    expect(holder.calls).toEqual([{ kind: 'free', text, options: [] }])
  })

  it('refuses what it does not know with a sentence', async () => {
    const { door, ask } = await opened()
    await door.bind(run('run_1'))
    expect((await ask('GET /v1/run', undefined, 'Bearer wrong')).status).toBe(401)
    expect((await ask('POST /mcp', {})).body.error).toBe('There are GET /v1/run, POST /v1/questions, POST /v1/messages here.')
    expect((await ask('POST /v1/messages', '{')).body.error).toBe('The body is not JSON.')
    expect(await ask('POST /v1/questions', { text: 'x', colour: 1 })).toMatchObject({ status: 400 })
    expect(await ask('POST /v1/messages', { text: 'x'.repeat(2_000_000) })).toEqual({
      status: 400,
      body: { error: 'The body is larger than 262144 bytes.' },
    })
  })

  it('serves the subtasks of the run that holds it, and takes the token in the address too', async () => {
    const { door, ask } = await opened()
    const calls: unknown[] = []
    const made = { id: 't_1', name: 'one', state: 'queued' as const, text: null }
    const subtasks: NonNullable<DoorVerbs['subtasks']> = {
      mayCreate: true,
      create: async (asked, key) => {
        calls.push([asked, key])
        return { subtask: made, created: calls.length === 1 }
      },
      list: async () => [made],
      get: async (id) => ({ ...made, id }),
      own: async () => ({ id: 'task_1', name: null, prompt: 'p', parent: null, agent: 'a', subtasks: [made] }),
    }
    await door.bind(run('run_1', { subtasks }))
    expect(await ask('POST /v1/subtasks', { prompt: 'do it' })).toEqual({ status: 201, body: made })
    expect(await ask('POST /v1/subtasks', { prompt: 'do it', checks: ['true'] })).toEqual({ status: 200, body: made })
    expect(await ask('GET /v1/subtasks')).toEqual({ status: 200, body: { items: [made] } })
    expect((await ask('GET /v1/subtasks/t_9')).body.id).toBe('t_9')
    expect((await ask('GET /v1/task')).body).toMatchObject({ id: 'task_1', subtasks: [made] })
    const theirs = { name: 'one', parent_task_id: 'current', agent: { instructions: 'do it', max_budget_usd: 0.5 } }
    expect((await ask(`POST /t/${token}/api/tasks`, theirs, '')).status).toBe(200)
    expect((await ask('POST /t/wrong/api/tasks', theirs, '')).status).toBe(401)
    expect((await ask('POST /api/tasks', { ...theirs, parent_task_id: 'task_2' })).status).toBe(403)
    expect((await ask('POST /api/tasks', { claude: {} })).body.error).toMatch(/^agent\.instructions: /)
    expect(calls).toEqual([
      [{ prompt: 'do it' }, undefined],
      [{ prompt: 'do it', checks: { commands: [{ run: 'true' }], attempts: 1 } }, undefined],
      [expect.objectContaining({ prompt: 'do it', name: 'one', budgetUsd: 0.5 }), undefined],
    ])
    // There is no way to accept one's own work.
    expect((await ask('POST /v1/tasks/task_1/accept')).status).toBe(404)
    await door.bind(undefined)
    expect((await ask('POST /v1/subtasks', { prompt: 'do it' })).status).toBe(409)
  })

  it('lets requests wait until its first run has it, for the program inside starts before that', async () => {
    const { door, ask } = await opened()
    const early = ask('GET /v1/run')
    // A second connection that is answered shows that the first one has arrived.
    expect((await ask('GET /v1/run', undefined, '')).status).toBe(401)
    await door.bind(run('run_1'))
    expect((await early).body.run).toBe('run_1')
  })

  it('refuses everything between two runs, then serves the next one', async () => {
    const { door, ask } = await opened({ tools: createToolServer })
    await door.bind(run('run_1'))
    await door.bind(undefined)
    for (const route of ['GET /v1/run', 'POST /v1/questions', 'POST /v1/messages', 'POST /mcp'])
      expect(await ask(route, route.startsWith('POST') ? { text: 'x' } : undefined)).toEqual({
        status: 409,
        body: { error: 'No run is under way here now, so nothing is served; try again in your next turn.' },
      })
    await door.bind(run('run_2'))
    expect((await ask('GET /v1/run')).body.run).toBe('run_2')
  })

  /** Stands for the gateway: tells what reached it, and for whom. */
  function modelsOf(name: string) {
    const served: string[] = []
    let isClosed = false
    const open = (shown: string): ModelDoor => ({
      async serve(request, response, path) {
        served.push(`${request.method} ${path}`)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name, shown }))
      },
      async close() {
        isClosed = true
      },
    })
    return { served, open, isClosed: () => isClosed }
  }

  it('serves the models of the run that holds it under both prefixes, and leaves it to them who is let in', async () => {
    const { door, ask } = await opened()
    const models = modelsOf('first')
    await door.bind(run('run_1', { models: models.open }))
    for (const path of [
      '/model/v1/messages?beta=true',
      '/api/llm-proxy/v1/messages',
      '/api/llm-proxy/s/sess_1/v1/messages',
      '/model',
    ])
      expect(await ask(`POST ${path}`, {}, '')).toEqual({ status: 200, body: { name: 'first', shown: token } })
    expect(models.served).toEqual(['POST /v1/messages?beta=true', 'POST /v1/messages', 'POST /v1/messages', 'POST /'])
    expect((await ask('POST /models', {})).status).toBe(404)
  })

  it('serves no model between two runs, and to the next run its own', async () => {
    const { door, ask } = await opened()
    const [first, second] = [modelsOf('first'), modelsOf('second')]
    await door.bind(run('run_1', { models: first.open }))
    await door.bind(undefined)
    expect(first.isClosed()).toBe(true)
    expect((await ask('POST /api/llm-proxy/v1/messages', {})).status).toBe(409)
    expect((await ask('POST /model/v1/messages', {})).status).toBe(409)
    await door.bind(run('run_2', { models: second.open }))
    expect((await ask('POST /model/v1/messages', {})).body.name).toBe('second')
    expect([first.served, second.isClosed()]).toEqual([[], false])
  })

  it('keeps a connection on which models are asked, for one run after another, and serves nothing on it in between', async () => {
    const { door, port } = await opened()
    const [first, second] = [modelsOf('first'), modelsOf('second')]
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    const ask = async () => {
      socket.write('POST /model/v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}')
      const [said] = (await once(socket, 'data')) as [string]
      return said
    }
    await door.bind(run('run_1', { models: first.open }))
    expect(await ask()).toMatch(/200 OK.*connection: keep-alive.*"first"/is)
    await door.bind(run('run_2', { models: second.open }))
    expect(await ask()).toMatch(/200 OK.*"second"/s)
    await door.bind(undefined)
    const ended = once(socket, 'end')
    expect(await ask()).toMatch(/409 Conflict.*connection: close/is)
    await ended
    expect([first.served.length, second.served.length]).toEqual([1, 1])
  })

  it('has no model for a run whose program asks its maker', async () => {
    const { door, ask } = await opened()
    await door.bind(run('run_1'))
    expect(await ask('POST /api/llm-proxy/v1/messages', {})).toEqual({
      status: 404,
      body: { error: 'No model is served to this run: its program talks to its maker.' },
    })
    expect((await ask('POST /model/v1/messages', {})).status).toBe(404)
  })

  it('is given back when what the run asked for is done, and that is still answered', async () => {
    const { door, ask } = await opened()
    const begun = Promise.withResolvers<void>()
    const stored = Promise.withResolvers<{ id: string }>()
    await door.bind(
      run('run_1', {
        ask: () => {
          begun.resolve()
          return stored.promise
        },
      }),
    )
    const asking = ask('POST /v1/questions', { text: 'Which?' })
    await begun.promise
    let isFree = false
    const freed = door.bind(undefined).then(() => {
      isFree = true
    })
    expect((await ask('GET /v1/run')).status).toBe(409)
    expect(isFree).toBe(false)
    stored.resolve({ id: 'question_1' })
    await freed
    expect(await asking).toEqual({ status: 202, body: { id: 'question_1' } })
  })

  it('never lets a request that began in one run reach the next', async () => {
    const { door, port } = await opened()
    const [first, second] = [run('run_1'), run('run_2')]
    await door.bind(first)
    const body = JSON.stringify({ text: 'Which?' })
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    const expecting = 'expect: 100-continue'
    const head = [
      'POST /v1/questions HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${token}`,
      `content-length: ${body.length}`,
      expecting,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    expect(await once(socket, 'data')).toEqual(['HTTP/1.1 100 Continue\r\n\r\n'])
    await door.bind(second)
    socket.write(body)
    const answer = text(socket)
    expect(await answer).toMatch(/^HTTP\/1.1 409 .*The run that this was asked for is over/s)
    expect([first.calls, second.calls]).toEqual([[], []])
  })

  it('serves the tools of the run that holds it, also to a client that greeted an earlier one', async () => {
    const { door, ask } = await opened({ tools: createToolServer })
    const [first, second] = [run('run_1'), run('run_2')]
    const call = (message: string) => {
      const params = { name: 'send_message_to_user', arguments: { message } }
      return ask('POST /mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    }
    await door.bind(first)
    expect((await call('one')).body.result.content).toEqual([{ type: 'text', text: 'sent' }])
    await door.bind(second)
    await call('two')
    expect([first.calls, second.calls]).toEqual([['one'], ['two']])
    expect((await ask('POST /mcp', {}, '')).status).toBe(401)
  })

  it('serves the same tools to messages that come over a pipe of the program, in the run that holds it alone', async () => {
    const { door, ask } = await opened({ tools: createToolServer })
    const [first, second] = [run('run_1'), run('run_2')]
    const about = { signal: new AbortController().signal }
    const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' }
    const call = (message: string) =>
      door.exchange(
        { jsonrpc: '2.0', id: 6, method: 'tools/call', params: { name: 'send_message_to_user', arguments: { message } } },
        about,
      )
    const early = door.exchange(list, about)
    expect(await Promise.race([early, 'waits'])).toBe('waits')
    await door.bind(first)
    expect(await early).toEqual((await ask('POST /mcp', list)).body)
    expect(await call('one')).toMatchObject({ id: 6, result: { content: [{ type: 'text', text: 'sent' }] } })
    await door.bind(undefined)
    await expect(call('nobody hears this')).rejects.toThrow('No run is under way here now')
    await door.bind(second)
    await call('two')
    expect([first.calls, second.calls]).toEqual([['one'], ['two']])
    await door.close()
    await expect(door.exchange(list, about)).rejects.toThrow('No run is under way here now')
  })

  it('has no tools over a pipe where none are served', async () => {
    const { door } = await opened()
    await door.bind(run('run_1'))
    const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' }
    await expect(door.exchange(list, { signal: new AbortController().signal })).rejects.toThrow(
      'No tools are served to this run.',
    )
  })

  const callers: [headers: string[], status: number][] = [
    [['host: 127.0.0.1:$'], 200],
    [['host: localhost:$'], 200],
    [['host: LOCALHOST'], 200],
    [['host: 127.0.0.1:$', 'sec-fetch-mode: cors'], 200],
    [['host: attacker.example:$'], 403],
    [['host: localhost.attacker.example:$'], 403],
    [['host: 127.0.0.1.nip.example:$'], 403],
    [['host: 127.0.0.1:$', 'origin: http://attacker.example'], 403],
    [['host: 127.0.0.1:$', 'origin: null'], 403],
    [['host: 127.0.0.1:$', 'origin: http://127.0.0.1:$'], 403],
    [['host: 127.0.0.1:$', 'sec-fetch-site: cross-site'], 403],
    [['host: 127.0.0.1:$', 'sec-fetch-site: none'], 403],
  ]
  it.each(callers)(
    'serves programs and no page, with a good token too, its tools over MCP as well: %j',
    async (headers, status) => {
      const { door, port } = await opened({ tools: createToolServer })
      await door.bind(run('run_1'))
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      const mcp = [`POST /mcp HTTP/1.1`, 'accept: application/json, text/event-stream', 'content-type: application/json']
      for (const lines of [['GET /v1/run HTTP/1.1'], [...mcp, `content-length: ${body.length}`]]) {
        const [start, ...more] = lines
        const head = [
          start,
          ...headers.map((line) => line.replaceAll('$', String(port))),
          `authorization: Bearer ${token}`,
          'connection: close',
          ...more,
        ]
        const socket = connect(port, '127.0.0.1').setEncoding('utf8')
        socket.write(`${head.join('\r\n')}\r\n\r\n${more.length > 0 ? body : ''}`)
        const answer = await text(socket)
        expect([start, Number(answer.split(' ')[1])]).toEqual([start, status])
      }
    },
  )

  it('ends every connection when it closes, idle ones too, and closing twice is fine', async () => {
    const { door, port, listener } = await opened()
    await door.bind(run('run_1'))
    const ended: Promise<void>[] = []
    for (const sent of ['', 'GET /v1/run HTTP/1.1\r\nhost:']) {
      const accepted = once(listener, 'connection')
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      ended.push(new Promise((done) => socket.on('close', () => done())))
      await accepted
      socket.write(sent)
    }
    await door.close()
    await Promise.all(ended)
    await door.close()
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
  })

  it('keeps next to nothing for a program that is frozen, whatever that had asked for', async () => {
    const { door, port, listener } = await opened({ tools: createToolServer })
    const models = {
      serve: async (_: unknown, response: ServerResponse) => void response.end('x'.repeat(8e6)),
      close: async () => {},
    }
    await door.bind(run('run_1', { models: () => models }))
    const accepted: Socket[] = []
    listener.on('connection', (socket: Socket) => accepted.push(socket))
    const ask = (path: string, body = '') =>
      [
        `POST ${path} HTTP/1.1`,
        'host: localhost',
        `authorization: Bearer ${token}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n')
    const tools = ask('/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
    /** Asks and reads no answer, as somebody who is frozen. */
    const silent = (text: string) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      closers.push(async () => socket.destroy())
      socket.pause().write(text)
    }
    const unread = () =>
      accepted.filter(({ destroyed }) => !destroyed).reduce((sum, { writableLength }) => sum + writableLength, 0)
    const idle = connect(port, '127.0.0.1').setEncoding('utf8')
    closers.push(async () => idle.destroy())
    let heard = ''
    idle.on('data', (text: string) => (heard += text)).write(tools)
    await until(() => heard.includes('ask_user'))
    for (let times = 0; times < 4; times++) silent(ask('/model/x'))
    await until(() => unread() > 4e6)
    await door.bind(undefined)
    door.letGo()
    expect(unread()).toBe(0)
    // What it had sent before is read only now.
    for (let times = 0; times < 4; times++) silent(tools.repeat(100))
    await pause(300)
    expect(unread()).toBeLessThan(100_000)
    // The connection that waits for the next turn is still there.
    heard = ''
    await door.bind(run('run_2'))
    idle.write(tools)
    await until(() => heard.includes('ask_user'))
  })

  it('drops connections above its bound', async () => {
    const { port, listener } = await opened()
    const dropped = new Promise<void>((done) => listener.once('drop', () => done()))
    const sockets = Array.from({ length: 257 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    await dropped
    for (const socket of sockets) socket.destroy()
  })

  it("is nobody's if the tools of the run cannot be made, and says why", async () => {
    const made: unknown[] = []
    const tools: DoorOptions['tools'] = async (_, { run: given }) => {
      made.push(given)
      throw new PawlError('invalid', 'The folder "/data" is not there.')
    }
    const { door, ask } = await opened({ tools })
    const runTools = {} as NonNullable<DoorVerbs['runTools']>
    const failure = await door.bind(run('run_1', { runTools })).catch((error: unknown) => error)
    expect(failure).toMatchObject({ category: 'sandbox_error', message: 'The folder "/data" is not there.' })
    expect(made).toEqual([runTools])
    expect((await ask('GET /v1/run')).status).toBe(409)
    expect((await ask('POST /mcp', {})).status).toBe(409)
  })
})
