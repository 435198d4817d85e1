import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle } from '../bundle.ts'
import { until } from '../engine/home.ts'
import { type McpPeer, rpc, startPeer, tasksExtension } from './peer.ts'

let peer: McpPeer
beforeAll(async () => {
  peer = await startPeer()
})
afterAll(() => peer.remove())

const slow = { timeout: 90_000 }
interface Told {
  method?: string
  id?: unknown
  error?: { code: number }
  params: {
    taskId: string
    status: string
    notifications?: unknown
    inputRequests?: Record<string, { params: { requestedSchema: { properties: { choice: { enum: string[] } } } } }>
    result?: unknown
    _meta: Record<string, unknown>
  }
}
const listen = (id: string, notifications: unknown, knowsTasks = true) => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: {
    notifications,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'by-hand', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': knowsTasks ? { extensions: { [tasksExtension]: {} } } : {},
    },
  },
})
const workspace = () => peer.workspace()
const handIn = async (prompt: string) =>
  (
    await rpc<{ taskId: string }>(peer, 'tools/call', {
      name: 'run_task',
      arguments: { prompt, agent: 'demo', workspace: await workspace() },
    })
  ).result.taskId

async function open(body: unknown, told: Told[], signal: AbortSignal) {
  const response = await fetch(peer.url(), {
    method: 'POST',
    signal,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${peer.token}`,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'subscriptions/listen',
    },
    body: JSON.stringify(body),
  })
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status: response.status, ...((await response.json()) as Told) }
  void (async () => {
    let rest = ''
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + part).split('\n\n')
      rest = frames.pop()!
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1]
        if (data !== undefined) told.push(JSON.parse(data) as Told)
      }
    }
  })().catch(() => undefined)
  return { status: response.status }
}

it('a client that asks for it is told of its tasks whole: as they are, what they ask, and how they end', slow, async () => {
  const gone = new AbortController()
  const id = await handIn('look around')
  const told: Told[] = []
  const unknown = 't_0000000000000000000'
  await open(listen('news-1', { taskIds: [id, unknown], resourcesListChanged: true }), told, gone.signal)
  await until(() => told.length > 0)
  expect(told[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { taskIds: [id], resourcesListChanged: true } },
  })
  expect(JSON.stringify(told[0])).not.toContain('resourceSubscriptions')
  const asked = await until(() => told.find(({ params }) => params.status === 'input_required'), 60_000)
  expect(asked).toMatchObject({
    method: 'notifications/tasks',
    params: { taskId: id, ttlMs: null, _meta: { 'io.modelcontextprotocol/subscriptionId': 'news-1' } },
  })
  const { resultType: _, ...got } = (await rpc(peer, 'tasks/get', { taskId: id })).result
  const { _meta, ...shown } = asked.params
  expect(shown).toMatchObject({ inputRequests: got.inputRequests, taskId: got.taskId })

  const [[question, form]] = Object.entries(asked.params.inputRequests!) as [
    [string, { params: { requestedSchema: { properties: { choice: { enum: string[] } } } } }],
  ]
  const choice = form.params.requestedSchema.properties.choice.enum[0]
  const inputResponses = { [question]: { action: 'accept', content: { choice } } }
  await rpc(peer, 'tasks/update', { taskId: id, inputResponses })
  const ended = await until(() => told.find(({ params }) => params.status === 'completed'), 60_000)
  expect(ended.params.result).toMatchObject({ structuredContent: { done: true, task: { id, state: 'completed' } } })
  const news = told.filter(({ method }) => method === 'notifications/tasks')
  // Nothing is said twice, and what is only a resource is not told to who did not ask for it.
  expect(new Set(news.map(({ params }) => JSON.stringify(params))).size).toBe(news.length)
  expect(told.map(({ method }) => method)).not.toContain('notifications/resources/updated')

  // Who comes late is told how it ended.
  const late: Told[] = []
  await open(listen('news-2', { taskIds: [id], resourceSubscriptions: [`pawl://tasks/${id}`] }), late, gone.signal)
  await until(() => late.length > 1)
  expect(late[0]!.params.notifications).toEqual({ taskIds: [id], resourceSubscriptions: [`pawl://tasks/${id}`] })
  expect(late[1]).toMatchObject({ method: 'notifications/tasks', params: { taskId: id, status: 'completed' } })
  gone.abort()
})

it('who does not know tasks, or names none, is refused as the extension says', async () => {
  const { signal } = new AbortController()
  expect(await open(listen('a', { taskIds: ['t_1'] }, false), [], signal)).toMatchObject({
    status: 400,
    id: 'a',
    error: { code: -32021, data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } } },
  })
  for (const taskIds of ['t_1', [1], Array.from({ length: 1_001 }, (_, n) => `t_${n}`)])
    expect(await open(listen('b', { taskIds }), [], signal)).toMatchObject({ status: 400, id: 'b', error: { code: -32602 } })
})

it('over stdio they are told in the same words', slow, async () => {
  const { pawl: bin } = await bundle()
  const child = spawn(process.execPath, [bin, 'mcp'], {
    env: { PATH: process.env.PATH, HOME: peer.home, PAWL_HOME: peer.home },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const told: Told[] = []
  createInterface({ input: child.stdout }).on('line', (line) => void told.push(JSON.parse(line) as Told))
  const say = (message: unknown) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  say(listen('first', { taskIds: [] }, false))
  await until(() => told.find(({ id }) => id === 'first'), 60_000)
  expect(told[0]!.error!.code).toBe(-32021)
  const id = await handIn('x --no-question')
  say(listen('second', { taskIds: [id] }))
  const ended = await until(
    () => told.find(({ method, params }) => method === 'notifications/tasks' && params.status === 'completed'),
    60_000,
  )
  expect(ended.params).toMatchObject({ taskId: id, _meta: { 'io.modelcontextprotocol/subscriptionId': 'second' } })
  expect(told.find(({ method }) => method === 'notifications/subscriptions/acknowledged')?.params.notifications).toEqual({
    taskIds: [id],
  })
  child.stdin.end()
  await new Promise((closed) => child.once('close', closed))
})
