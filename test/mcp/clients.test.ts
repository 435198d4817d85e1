import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  GetTaskResultSchema,
  ListTasksResultSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../engine/home.ts'
import { accepted, type McpPeer, modernClient, rpc, startPeer } from './peer.ts'

let peer: McpPeer
beforeAll(async () => {
  peer = await startPeer()
})
afterAll(() => peer.remove())

const slow = { timeout: 90_000 }
interface Shown {
  task: { id: string; state: string; session: string; questions: { id: string }[]; result: { text: string } | null }
  done: boolean
}
const seen = (result: object) => (result as { structuredContent: Shown }).structuredContent

it(
  'a client of the newer era has work done, is asked what the agent asks, and reads everything there is of it',
  slow,
  async () => {
    const client = await modernClient(peer)
    const workspace = await peer.workspace()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'run_task',
      'create_task',
      'wait_task',
      'get_task',
      'list_tasks',
      'read_result',
      'read_log',
      'read_changes',
      'send_message',
      'list_questions',
      'answer_question',
      'review_task',
      'retry_task',
      'cancel_task',
      'list_agents',
    ])
    expect(tools.every(({ outputSchema, annotations }) => outputSchema && annotations?.readOnlyHint !== undefined)).toBe(true)
    expect(tools.find(({ name }) => name === 'cancel_task')?.annotations).toMatchObject({ destructiveHint: true })

    const progress: string[] = []
    const ran = await client.callTool(
      { name: 'run_task', arguments: { prompt: 'look around', agent: 'demo', workspace, waitSeconds: 60 } },
      { onprogress: ({ message }) => progress.push(message ?? ''), timeout: 80_000 },
    )
    expect(ran.isError).not.toBe(true)
    expect(seen(ran)).toMatchObject({ done: true, task: { state: 'completed', questions: [] } })
    // Of events that come together it is told of the last one.
    expect(progress.join('\n')).toMatch(/^(run|agent)\.\w+/m)
    await access(join(workspace, 'pawl-demo.md'))
    const { id, session } = seen(ran).task

    const call = async (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args })
    expect(seen(await call('read_result', { task: id })).task.result?.text).toContain('look around')
    expect(JSON.stringify((await call('list_tasks', {})).structuredContent)).toContain(id)
    expect(JSON.stringify((await call('read_log', { task: id })).content)).toContain('task.completed')
    expect(JSON.stringify((await call('read_changes', { task: id })).structuredContent)).toContain('pawl-demo.md')
    expect(JSON.stringify((await call('list_agents', {})).structuredContent)).toContain('"demo"')
    const next = seen(await call('send_message', { task: id, message: 'again --no-question' })).task
    expect(next.session).toBe(session)
    expect(seen(await call('wait_task', { task: next.id, waitSeconds: 60 })).task.state).toBe('completed')

    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toContain(`pawl://tasks/${id}`)
    const read = async (part: string) =>
      JSON.stringify((await client.readResource({ uri: `pawl://tasks/${id}${part}` })).contents)
    expect(await read('')).toContain('completed')
    expect(await read('/log')).toContain('run.started')
    expect(await read('/result')).toContain('look around')
    expect(await read('/diff')).toContain('+++ b/pawl-demo.md')
    await expect(client.readResource({ uri: 'pawl://tasks/t_nothing' })).rejects.toThrow(/t_nothing/)
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(4)
    const review = await client.getPrompt({ name: 'review_work', arguments: { task: id } })
    expect(JSON.stringify(review.messages)).toContain('pawl-demo.md')
    const completed = await client.complete({
      ref: { type: 'ref/resource', uri: 'pawl://tasks/{task}' },
      argument: { name: 'task', value: id.slice(0, -1) },
    })
    expect(completed.completion.values).toContain(id)

    const key = { prompt: 'once --no-question', agent: 'demo', idempotencyKey: 'the-same' }
    const [one, other] = [await call('create_task', key), await call('create_task', key)]
    expect(seen(one).task.id).toBe(seen(other).task.id)
    expect(other.structuredContent).toMatchObject({ created: false })
    const refused = await call('get_task', { task: 'nothing' })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('task') }] })
    expect(await call('cancel_task', { task: id })).toMatchObject({ structuredContent: { task: { state: 'completed' } } })
    await expect(call('no_such_tool', {})).rejects.toThrow('no_such_tool')
    await client.close()
  },
)

it('a task of the newer era has our id, asks through the client, and goes on after the daemon was restarted', slow, async () => {
  const workspace = await peer.workspace()
  const made = await rpc<{ resultType: string; taskId: string; status: string }>(peer, 'tools/call', {
    name: 'run_task',
    arguments: { prompt: 'look around', agent: 'demo', workspace },
  })
  expect(made.result).toMatchObject({ resultType: 'task', status: 'working' })
  const { taskId } = made.result
  expect((await peer.daemon.runtime.getTask(taskId)).id).toBe(taskId)
  interface Got {
    resultType: string
    status: string
    inputRequests?: Record<string, { method: string; params: unknown }>
    result?: { structuredContent: Shown }
  }
  const get = async () => (await rpc<Got>(peer, 'tasks/get', { taskId })).result
  const untilStatus = (status: string) =>
    until(async () => {
      const task = await get()
      return task.status === status && task
    }, 60_000)
  const asking = await untilStatus('input_required')
  await peer.restart()
  expect(await get()).toEqual(asking)
  const [[question, request]] = Object.entries(asking.inputRequests!) as [[string, { method: string; params: unknown }]]
  expect(request.method).toBe('elicitation/create')
  const update = (inputResponses: Record<string, unknown>) => rpc(peer, 'tasks/update', { taskId, inputResponses })
  expect((await update({ somethingElse: accepted(request.params), [question]: { action: 'decline' } })).result).toEqual(
    expect.objectContaining({ resultType: 'complete' }),
  )
  expect((await get()).status).toBe('input_required')
  await update({ [question]: accepted(request.params) })
  await update({ [question]: accepted(request.params) })
  const done = await untilStatus('completed')
  expect(done.result?.structuredContent).toMatchObject({ done: true, task: { id: taskId, state: 'completed' } })
  expect((await rpc(peer, 'tasks/get', { taskId: 'nothing' })).error?.code).toBe(-32602)
  expect((await rpc(peer, 'tasks/get', { taskId }, { capabilities: {} })).error?.code).toBe(-32021)
  expect((await rpc(peer, 'tasks/list', {})).error?.code).toBe(-32601)

  const other = await rpc<{ taskId: string }>(peer, 'tools/call', {
    name: 'run_task',
    arguments: { prompt: 'wait', agent: 'demo' },
  })
  await rpc(peer, 'tasks/cancel', { taskId: other.result.taskId })
  await until(
    async () => (await rpc<Got>(peer, 'tasks/get', { taskId: other.result.taskId })).result.status === 'cancelled',
    60_000,
  )
})

it(
  'what a call carries through the client while it waits for an answer cannot be changed, nor used by another',
  slow,
  async () => {
    const capabilities = { elicitation: {} }
    const params = { name: 'run_task', arguments: { prompt: 'look around', agent: 'demo', waitSeconds: 60 } }
    type Asked = { resultType: string; requestState: string; inputRequests: Record<string, { params: unknown }> }
    const { result } = await rpc<Asked>(peer, 'tools/call', params, { capabilities })
    expect(result.resultType).toBe('input_required')
    const [question] = Object.keys(result.inputRequests)
    const inputResponses = { [question!]: accepted(result.inputRequests[question!]!.params) }
    const again = (requestState: string, token = peer.token) =>
      rpc<Shown & { structuredContent: Shown }>(
        peer,
        'tools/call',
        { ...params, inputResponses, requestState },
        { capabilities, token },
      )
    const [head, body, seal] = result.requestState.split('.') as [string, string, string]
    const changed = Buffer.from(body, 'base64url').toString().replace('"t_', '"t_x')
    expect((await again([head, Buffer.from(changed).toString('base64url'), seal].join('.'))).error?.code).toBe(-32602)
    const other = await peer.daemon.entrance.createToken({ name: 'another' }, { by: 'test' })
    expect((await again(result.requestState, other.token)).error?.code).toBe(-32602)
    await peer.restart()
    const done = await again(result.requestState)
    expect(done.result.structuredContent).toMatchObject({ done: true, task: { state: 'completed' } })
    // Sent once more, it makes no second task and answers nothing twice.
    expect((await again(result.requestState)).result.structuredContent.task.id).toBe(done.result.structuredContent.task.id)
  },
)

it(
  'a client of the older era does the same with a session: asked in the middle of a call, with tasks, told of changes',
  slow,
  async () => {
    const client = new OldClient({ name: 'old', version: '1.0.0' }, { capabilities: { elicitation: {} } })
    let asked = 0
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked++
      return accepted(params)
    })
    const updated: string[] = []
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
    const transport = new OldTransport(new URL(peer.url()), {
      requestInit: { headers: { Authorization: `Bearer ${peer.token}` } },
    })
    await client.connect(transport as Parameters<typeof client.connect>[0])
    expect(transport.sessionId).toBeDefined()
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'run_task')).toMatchObject({ execution: { taskSupport: 'optional' } })
    const args = { prompt: 'look around', agent: 'demo', waitSeconds: 60 }
    const ran = await client.callTool({ name: 'run_task', arguments: args }, CallToolResultSchema, { timeout: 80_000 })
    expect(seen(ran)).toMatchObject({ done: true, task: { state: 'completed' } })
    expect(asked).toBe(1)

    const augmented = { method: 'tools/call', params: { name: 'run_task', arguments: args, task: { ttl: 60_000 } } } as const
    const { task } = await client.request(augmented, CreateTaskResultSchema)
    expect(task).toMatchObject({ status: 'working', ttl: null })
    const { taskId } = task
    await client.subscribeResource({ uri: `pawl://tasks/${taskId}` })
    const outcome = await client.request({ method: 'tasks/result', params: { taskId } }, CallToolResultSchema, {
      timeout: 80_000,
    })
    expect(seen(outcome)).toMatchObject({ done: true, task: { id: taskId, state: 'completed' } })
    expect(asked).toBe(2)
    expect(await client.request({ method: 'tasks/get', params: { taskId } }, GetTaskResultSchema)).toMatchObject({
      status: 'completed',
    })
    const { tasks } = await client.request({ method: 'tasks/list' }, ListTasksResultSchema)
    expect(tasks.map((one) => one.taskId)).toContain(taskId)
    await expect(client.request({ method: 'tasks/cancel', params: { taskId } }, GetTaskResultSchema)).rejects.toThrow('has ended')
    await until(() => updated.includes(`pawl://tasks/${taskId}`), 30_000)

    const foreign = await peer.daemon.entrance.createToken({ name: 'thief' }, { by: 'test' })
    const stolen = await fetch(peer.url(), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${foreign.token}`,
        'Mcp-Session-Id': transport.sessionId!,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect(stolen.status).toBe(404)
    await transport.terminateSession()
    await client.close()
  },
)
