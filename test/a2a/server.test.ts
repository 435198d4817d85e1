import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentCard, type StreamResponse, type Task, TaskState, verifyAgentCardSignature } from '@a2a-js/sdk'
import type { JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { json, pawl } from '../e2e/pawl.ts'
import { type A2AStage, all, bindings, request, script, startA2A, stateOf, taskIn, textOf, textPart, told } from './stage.ts'

/** A program of the Agent Client Protocol that begins nothing before there is a file named key. */
const locked = `
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const results = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  'session/new': () => ({ sessionId: 'one' }),
  'session/prompt': () => {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'open' } }
    say({ method: 'session/update', params: { sessionId: 'one', update } })
    return { stopReason: 'end_turn' }
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (method === 'session/new' && !existsSync('key')) say({ id, error: { code: -32000, message: 'Authentication required' } })
  else if (results[method]) say({ id, result: results[method]() })
}
`

let stage: A2AStage
beforeAll(async () => {
  const copy = `cat >/dev/null; cp "$PAWL_ATTACHMENTS"/* "$PAWL_ARTIFACTS"/; echo copied`
  stage = await startA2A(
    `  copier: { adapter: custom, command: [sh, -c, ${JSON.stringify(copy)}] }\n  locked: { adapter: acp, command: [${process.execPath}, locked.mjs] }\n`,
  )
  await writeFile(join(stage.workspace, 'locked.mjs'), locked)
}, 60_000)
afterAll(() => stage.stop())

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${stage.url()}${path}`, { ...init, headers: { Authorization: `Bearer ${stage.token()}`, ...init.headers } })
const ours = async () => ((await (await ask('/api/v1/tasks?limit=200')).json()) as { items: TaskView[] }).items

describe.each(bindings)('over %s', (binding) => {
  test('a message becomes a task, whose answer is an artifact and whose messages are its history', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const sent = request({ text: script({ speak: 'working on it' }, { result: 'done' }), metadata: stage.inWorkspace })
    const task = taskIn(await client.sendMessage(sent))
    expect([stateOf(task), task.artifacts.map(({ name }) => name)]).toEqual(['COMPLETED', ['result']])
    expect(textOf(task.artifacts[0]?.parts)).toContain('done')
    expect(task.history[0]).toMatchObject({ messageId: sent.message?.messageId, taskId: task.id, contextId: task.contextId })
    expect(task.metadata).toMatchObject({ agent: 'fake', pawl: { state: 'completed', outcome: 'succeeded' } })
    const view = (await (await ask(`/api/v1/tasks/${task.id}`)).json()) as TaskView
    expect([view.session, view.result?.text]).toEqual([task.contextId, textOf(task.artifacts[0]?.parts)])

    const got = await client.getTask({ tenant: '', id: task.id, historyLength: 1 })
    expect([got.id, got.history.length, got.artifacts]).toEqual([task.id, 1, task.artifacts])
    expect((await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).history).toEqual([])

    const again = taskIn(await client.sendMessage(sent))
    expect([again.id, again.artifacts]).toEqual([task.id, task.artifacts])
    await expect(client.sendMessage({ ...sent, message: { ...sent.message!, parts: [textPart('else')] } })).rejects.toThrow(
      /key/i,
    )
    await expect(client.sendMessage(request({ text: 'more', taskId: task.id }))).rejects.toMatchObject({
      name: expect.stringMatching(/UnsupportedOperation/),
    })
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toMatchObject({
      name: expect.stringMatching(/TaskNotCancelable/),
    })
    await expect(all(client.resubscribeTask({ tenant: '', id: task.id }))).rejects.toMatchObject({
      name: expect.stringMatching(/UnsupportedOperation/),
    })
    await expect(client.getTask({ tenant: '', id: 'nothing' })).rejects.toMatchObject({
      name: expect.stringMatching(/TaskNotFound/),
    })
    const other = await stage.client({ agent: 'copier', binding })
    await expect(other.getTask({ tenant: '', id: task.id })).rejects.toMatchObject({
      name: expect.stringMatching(/TaskNotFound/),
    })
  }, 60_000)

  test('an answer that is empty is the words that stand for none', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const silent = request({ text: script({ write: ' \n' }), metadata: stage.inWorkspace })
    const empty = taskIn(await client.sendMessage(silent))
    expect([stateOf(empty), textOf(empty.artifacts[0]?.parts)]).toEqual(['COMPLETED', '(no response generated)'])
  })

  test('the text parts of a message are joined, and one without text is answered and starts nothing', async () => {
    const client = await stage.client({ binding })
    const joined = taskIn(
      await client.sendMessage(
        request({ parts: [textPart('first'), textPart('second')], metadata: { agent: 'fake', ...stage.inWorkspace } }),
      ),
    )
    expect(textOf(joined.artifacts[0]?.parts)).toContain('first\nsecond')
    const before = await ours()
    const image = {
      content: { $case: 'raw' as const, value: Buffer.from('x') },
      mediaType: 'image/png',
      filename: 'a.png',
      metadata: undefined,
    }
    for (const parts of [[textPart('  \n')], [image]]) {
      const reply = await client.sendMessage(request({ parts }))
      expect('messageId' in reply && textOf(reply.parts)).toBe('Error: message contained no text content.')
      expect((await all(client.sendMessageStream(request({ parts })))).map(told)).toEqual([
        'message Error: message contained no text content.',
      ])
    }
    expect(await ours()).toEqual(before)
  }, 60_000)

  test('a stream begins with the task, tells what happens in order, and ends with it', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const long = 'ä'.repeat(60_000)
    const text = script({ speak: 'one' }, { speak: 'two' }, { speak: long })
    const events = await all(client.sendMessageStream(request({ text, metadata: stage.inWorkspace })))
    const words = events.map(told)
    // One that starts at once is working already when the stream begins.
    expect(['task SUBMITTED', 'task WORKING']).toContain(words[0])
    expect(words.slice(1)).toEqual([
      ...(words[0] === 'task SUBMITTED' ? ['WORKING'] : []),
      ...words.filter((word) => word.startsWith('WORKING ')),
      'artifact result',
      'artifact result more',
      'artifact result more last',
      'COMPLETED',
    ])
    const pieces = events.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value.artifact?.parts] : []))
    const [task] = events.flatMap(({ payload }) => (payload?.$case === 'task' ? [payload.value] : []))
    const whole = await client.getTask({ tenant: '', id: task!.id })
    expect(pieces.map(textOf).join('')).toBe(textOf(whole.artifacts[0]?.parts))
    expect(textOf(whole.artifacts[0]?.parts)).toContain(long)
  }, 60_000)

  test('a question is answered by a message to its task, however often it is sent, and two clients hear the same', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const text = script({ ask: { text: 'Which one?', options: ['red', 'blue'] } })
    const asked = taskIn(await client.sendMessage(request({ text, metadata: stage.inWorkspace })))
    expect([stateOf(asked), asked.status?.message?.parts[0]?.content?.value]).toEqual([
      'INPUT_REQUIRED',
      'Which one?\n\n1. red\n2. blue',
    ])
    const followers = await Promise.all(
      [0, 1].map(async () => {
        const events = (await stage.client({ agent: 'fake', binding })).resubscribeTask({ tenant: '', id: asked.id })
        const first = await events.next()
        return { first: told(first.value as StreamResponse), rest: all(events) }
      }),
    )
    expect(followers.map(({ first }) => first)).toEqual(['task INPUT_REQUIRED', 'task INPUT_REQUIRED'])

    await expect(
      client.sendMessage(request({ text: 'red', taskId: asked.id, contextId: 's_000000000000000000' })),
    ).rejects.toThrow(/context/)
    const answer = request({ text: 'blue', taskId: asked.id, contextId: asked.contextId })
    const done = taskIn(await client.sendMessage(answer))
    expect([done.id, stateOf(done)]).toEqual([asked.id, 'COMPLETED'])
    expect(stateOf(taskIn(await client.sendMessage(answer)))).toBe('COMPLETED')
    expect(done.history.map(({ messageId }) => messageId)).toContain(answer.message?.messageId)
    const view = (await (await ask(`/api/v1/tasks/${asked.id}`)).json()) as TaskView
    expect(view.questions.map(({ answer: given, answeredBy }) => [given, answeredBy])).toEqual([['blue', 'a2a']])

    const [one, other] = await Promise.all(followers.map(({ rest }) => rest))
    expect(one?.map(told)).toEqual(other?.map(told))
    expect(one?.map(told)).toMatchObject({ 0: 'SUBMITTED', 1: 'WORKING' })
    expect(one?.map(told).at(-1)).toBe('COMPLETED')
  }, 60_000)

  test('an agent that fails is a failed task, and never an answer', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const failed = taskIn(
      await client.sendMessage(request({ text: script({ speak: 'Agent error: no' }, { exit: 3 }), metadata: stage.inWorkspace })),
    )
    expect([stateOf(failed), failed.artifacts]).toEqual(['FAILED', []])
    expect(failed.status?.message).toMatchObject({ metadata: { category: 'exit_code' } })
    expect(textOf(failed.status?.message?.parts)).toMatch(/3/)
  }, 60_000)

  test('a task is cancelled while it runs', async () => {
    const client = await stage.client({ agent: 'fake', binding })
    const sent = request({
      text: script({ speak: 'here' }, { hang: true }),
      metadata: stage.inWorkspace,
      configuration: { returnImmediately: true },
    })
    const { id, ...begun } = taskIn(await client.sendMessage(sent))
    expect(['SUBMITTED', 'WORKING']).toContain(stateOf(begun))
    for await (const event of client.resubscribeTask({ tenant: '', id })) if (told(event) === 'WORKING here') break
    expect(stateOf(await client.cancelTask({ tenant: '', id, metadata: undefined }))).toBe('CANCELED')
  }, 60_000)

  test('files of a message are attached, and what the task leaves comes back as artifacts', async () => {
    const client = await stage.client({ agent: 'copier', binding })
    const bytes = Buffer.alloc(100_000, 'pawl')
    const file = {
      content: { $case: 'raw' as const, value: bytes },
      mediaType: 'text/plain',
      filename: 'note.txt',
      metadata: undefined,
    }
    const data = {
      content: { $case: 'data' as const, value: { a: 1 } },
      mediaType: 'application/json',
      filename: '',
      metadata: undefined,
    }
    const events = await all(client.sendMessageStream(request({ parts: [textPart('copy these'), file, data] })))
    expect(events.map(told).filter((word) => word.startsWith('artifact'))).toEqual([
      'artifact data-3.json last',
      'artifact note.txt',
      'artifact note.txt more last',
      'artifact result last',
    ])
    const [task] = events.flatMap(({ payload }) => (payload?.$case === 'task' ? [payload.value] : []))
    const { artifacts } = await client.getTask({ tenant: '', id: task!.id })
    const note = artifacts.find(({ name }) => name === 'note.txt')?.parts[0]
    expect(note?.content?.$case === 'raw' && Buffer.from(note.content.value).equals(bytes)).toBe(true)
    const odd = { ...file, mediaType: 'application/x-odd' }
    await expect(client.sendMessage(request({ parts: [textPart('take it'), odd] }))).rejects.toMatchObject({
      name: expect.stringMatching(/ContentTypeNotSupported/),
    })
  }, 60_000)

  test('tasks are listed by page, the last changed first, by context and by state', async () => {
    const client = await stage.client({ binding })
    const list = (more: Partial<Parameters<typeof client.listTasks>[0]>) =>
      client.listTasks({
        tenant: '',
        contextId: '',
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
        statusTimestampAfter: undefined,
        ...more,
      })
    const first = taskIn(await client.sendMessage(request({ text: 'one', metadata: stage.inWorkspace })))
    const second = taskIn(await client.sendMessage(request({ text: 'two', contextId: first.contextId })))
    expect(second.contextId).toBe(first.contextId)
    const { contextId } = first
    const page = await list({ contextId, pageSize: 1 })
    expect([page.tasks.map(({ id }) => id), page.totalSize, page.pageSize]).toEqual([[second.id], 2, 1])
    const next = await list({ contextId, pageSize: 1, pageToken: page.nextPageToken })
    expect([next.tasks.map(({ id }) => id), next.nextPageToken]).toEqual([[first.id], ''])
    const idsOf = (tasks: readonly Task[]) => tasks.map(({ id }) => id)
    expect(idsOf((await list({ contextId, status: TaskState.TASK_STATE_COMPLETED })).tasks)).toEqual([second.id, first.id])
    expect((await list({ contextId, status: TaskState.TASK_STATE_WORKING })).totalSize).toBe(0)
    expect((await list({ contextId: 'of-somebody-else' })).tasks).toEqual([])
    expect((await list({ contextId })).tasks[0]?.artifacts).toEqual([])
    expect((await list({ contextId, includeArtifacts: true })).tasks[0]?.artifacts).toHaveLength(1)
    await expect(list({ pageSize: 101 })).rejects.toThrow(/pageSize/)
    for (const unknown of ['s_000000000000000000', 'of-somebody-else'])
      await expect(client.sendMessage(request({ text: 'x', contextId: unknown }))).rejects.toThrow(/no (context|session)/)
  }, 60_000)
})

test('cards need a token, are signed with a key of the home, and say more where more is asked', async () => {
  const path = '/.well-known/agent-card.json'
  for (const closed of [path, `/a2a${path}`, '/a2a/jwks.json'])
    expect([closed, (await fetch(`${stage.url()}${closed}`)).status]).toEqual([closed, 401])
  const open = await ask(path, { headers: { 'A2A-Version': '1.0' } })
  const body = await open.text()
  const card = AgentCard.fromJSON(JSON.parse(body))
  expect(card).toMatchObject({ name: 'Pawl', capabilities: { streaming: true, extendedAgentCard: true } })
  for (const private_ of ['fake', 'copier', stage.home, process.version]) expect(body).not.toContain(private_)
  const { keys } = (await (await ask('/a2a/jwks.json')).json()) as { keys: JWK[] }
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    expect(jku).toBe(`${stage.url()}/a2a/jwks.json`)
    return keys.find((key) => key.kid === kid)!
  })
  await verify(card)
  await expect(verify({ ...card, name: 'another' })).rejects.toThrow()
  expect((await stat(join(stage.home, 'a2a-card-key.pem'))).mode & 0o777).toBe(0o600)
  expect(keys[0]).not.toHaveProperty('d')

  const etag = open.headers.get('etag')!
  expect(open.headers.get('cache-control')).toBe('private, max-age=60')
  const known = await ask(path, { headers: { 'A2A-Version': '1.0', 'If-None-Match': etag } })
  expect(known.status).toBe(304)
  const old = (await (await ask(path)).json()) as Record<string, unknown>
  expect(old).toMatchObject({ protocolVersion: '0.3.0', url: `${stage.url()}/a2a`, preferredTransport: 'JSONRPC' })
  await verify(AgentCard.fromJSON(old))

  const ofAgent = `/a2a/agents/fake${path}`
  expect((await fetch(`${stage.url()}${ofAgent}`)).status).toBe(401)
  expect((await ask(`/a2a/agents/nobody${path}`)).status).toBe(404)
  const agent = AgentCard.fromJSON(await (await ask(ofAgent)).json())
  expect([agent.name, agent.supportedInterfaces[0]?.url]).toEqual(['fake', `${stage.url()}/a2a/agents/fake`])
  const extended = await (await stage.client()).getAgentCard()
  expect(extended.skills.map(({ id }) => id)).toEqual(expect.arrayContaining(['task', 'agent.fake', 'agent.copier']))
  await verify(extended)

  const shown = await pawl(stage.home, ['a2a', 'card', 'fake', '--json'])
  expect(json<{ name: string }>(shown).name, shown.stderr).toBe('fake')
  const page = await pawl(stage.home, ['agents', 'fake'])
  expect(page.stdout).toContain(`\nA2A address   ${stage.url()}/a2a/agents/fake\n`)
  const said = await pawl(stage.home, ['a2a', 'card'])
  expect(said.stdout).toContain(`${stage.url()}/a2a`)
}, 60_000)

test('each binding says in its own words what is refused, and whoever may not is refused', async () => {
  const call = (body: unknown, headers: Record<string, string> = {}) =>
    ask('/a2a', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const rpc = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id: 7, method, params })
  const answered = async (response: Promise<Response>) =>
    (await response).json() as Promise<{ error: { code: number; data?: { reason: string }[] } }>
  expect(await answered(call('{'))).toMatchObject({ id: null, error: { code: -32700 } })
  expect(await answered(call(rpc('Nothing')))).toMatchObject({ id: 7, error: { code: -32601 } })
  expect(await answered(call(rpc('GetTask', { id: 'x' })))).toMatchObject({
    error: { code: -32001, data: [{ reason: 'TASK_NOT_FOUND' }] },
  })
  expect(await answered(call(rpc('SendMessage', {})))).toMatchObject({ error: { code: -32602 } })
  expect(await answered(call(rpc('GetTask', { id: 'x' }), { 'A2A-Version': '9.9' }))).toMatchObject({ error: { code: -32009 } })
  expect(
    await answered(call(rpc('CreateTaskPushNotificationConfig', { taskId: 'x', url: 'http://127.0.0.1:1' }))),
  ).toHaveProperty('error')
  // A client of 0.3 names no version.
  const legacy = await answered(call(rpc('tasks/get', { id: 'x' })))
  expect(legacy).toMatchObject({ error: { code: -32001 } })
  const old = await call(
    rpc('message/send', {
      message: {
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts: [{ kind: 'text', text: 'of old' }],
        metadata: stage.inWorkspace,
      },
    }),
  )
  expect(await old.json()).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } })

  const rest = await ask('/a2a/tasks/x', { headers: { 'A2A-Version': '1.0' } })
  expect([rest.status, rest.headers.get('content-type')]).toEqual([404, 'application/a2a+json'])
  expect(await rest.json()).toMatchObject({
    error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] },
  })
  const wrong = await ask('/a2a/message:send', { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } })
  expect([wrong.status, await wrong.json()]).toMatchObject([
    415,
    { error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
  ])
  const stranger = await fetch(`${stage.url()}/a2a/tasks`)
  expect([stranger.status, stranger.headers.get('www-authenticate'), await stranger.json()]).toMatchObject([
    401,
    'Bearer',
    { error: { status: 'UNAUTHENTICATED' } },
  ])

  await pawl(stage.home, ['user', 'add', 'looker', '--role', 'viewer'])
  const viewer = json<{ token: string }>(await pawl(stage.home, ['token', 'create', '--user', 'looker', '--json'])).token
  const looking = { Authorization: `Bearer ${viewer}` }
  expect((await ask('/a2a/tasks', { headers: looking })).status).toBe(200)
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } })
  const refused = await ask('/a2a/message:send', {
    method: 'POST',
    body,
    headers: { ...looking, 'Content-Type': 'application/a2a+json' },
  })
  expect([refused.status, await refused.json()]).toMatchObject([403, { error: { status: 'PERMISSION_DENIED' } }])
  expect(await answered(call(rpc('SendMessage', JSON.parse(body)), looking))).toMatchObject({
    error: { code: -32000, data: [{ reason: 'PERMISSION_DENIED' }] },
  })
  const hook = json<{ token: string }>(await pawl(stage.home, ['token', 'create', '--hook', '--json'])).token
  expect((await ask('/a2a/tasks', { headers: { Authorization: `Bearer ${hook}` } })).status).toBe(403)
}, 90_000)

test('a task whose agent needs a login says so, and goes on when somebody says that there is one', async () => {
  const client = await stage.client({ agent: 'locked' })
  const stuck = taskIn(await client.sendMessage(request({ text: 'open up', metadata: stage.inWorkspace })))
  expect([stateOf(stuck), textOf(stuck.status?.message?.parts)]).toEqual([
    'AUTH_REQUIRED',
    expect.stringMatching(/Authentication/),
  ])
  await writeFile(join(stage.workspace, 'key'), '')
  const again = request({ text: 'it is there now', taskId: stuck.id })
  const done = taskIn(await client.sendMessage(again))
  expect([done.id, stateOf(done)]).toEqual([stuck.id, 'COMPLETED'])
  expect(stateOf(taskIn(await client.sendMessage(again)))).toBe('COMPLETED')
}, 60_000)

test('a task that is answered for at once is told as whoever asks for it then is told it', async () => {
  const client = await stage.client({ agent: 'fake' })
  // Where the program is: one that fails would not be waited for.
  const first = request({ text: script({ hang: true }), metadata: stage.inWorkspace })
  const second = request({ text: script({ speak: 'done' }) })
  const configuration = { returnImmediately: true }
  const { id, contextId } = taskIn(await client.sendMessage({ ...first, configuration } as typeof first))
  // In the same conversation it waits for the first: nothing of it changes meanwhile.
  const message = { ...second.message!, contextId }
  for (const historyLength of [undefined, 0]) {
    const sent = { ...second, message: { ...message, messageId: `m-${historyLength}` } }
    const told = taskIn(await client.sendMessage({ ...sent, configuration: { ...configuration, historyLength } } as typeof sent))
    expect(stateOf(told)).toBe('SUBMITTED')
    const asked = await client.getTask({ tenant: '', id: told.id, historyLength })
    // Why it waits is found out when somebody asks.
    expect(told).toEqual({ ...asked, metadata: told.metadata })
    await client.cancelTask({ tenant: '', id: told.id, metadata: undefined })
  }
  await client.cancelTask({ tenant: '', id, metadata: undefined })
}, 60_000)

test('a stream is cut as soon as its token is revoked', async () => {
  const { id: key, token } = json<{ id: string; token: string }>(
    await pawl(stage.home, ['token', 'create', '--user', 'looker', '--json']),
  )
  const { id } = taskIn(
    await (await stage.client({ agent: 'fake' })).sendMessage(
      request({ text: script({ hang: true }), metadata: stage.inWorkspace, configuration: { returnImmediately: true } }),
    ),
  )
  const events = (await stage.client({ agent: 'fake', token })).resubscribeTask({ tenant: '', id })
  expect(told((await events.next()).value as StreamResponse)).toMatch(/^task/)
  const rest = all(events)
  const cut = expect(rest).rejects.toThrow()
  await pawl(stage.home, ['token', 'revoke', key])
  await cut
  expect((await ask(`/api/v1/tasks/${id}/cancel`, { method: 'POST' })).status).toBe(200)
}, 60_000)

test('streams and tasks outlive a daemon that is killed', async () => {
  const client = await stage.client({ agent: 'fake' })
  const text = script({ speak: 'before' }, { ask: { text: 'Go on?' } })
  const sent = request({ text, metadata: stage.inWorkspace })
  const cut = all(client.sendMessageStream(sent))
  const asked = (await cut).at(-1)!
  expect(told(asked)).toBe('INPUT_REQUIRED Go on?')
  const id = asked.payload?.$case === 'statusUpdate' ? asked.payload.value.taskId : ''
  const open = [client, await stage.client({ agent: 'fake', binding: 'HTTP+JSON' })].map((one) => {
    const events = one.resubscribeTask({ tenant: '', id })
    return { events, first: events.next() }
  })
  await Promise.all(open.map(({ first }) => first))
  await stage.kill()
  for (const { events } of open) await expect(all(events)).rejects.toThrow()
  await stage.start()

  const after = await stage.client({ agent: 'fake' })
  expect((await after.getTask({ tenant: '', id })).history[0]?.messageId).toBe(sent.message?.messageId)
  expect(taskIn(await after.sendMessage(sent)).id).toBe(id)
  const events = after.resubscribeTask({ tenant: '', id })
  expect(told((await events.next()).value as StreamResponse)).toBe('task INPUT_REQUIRED')
  const rest = all(events)
  const answer = request({ text: 'yes', taskId: id, configuration: { returnImmediately: true } })
  await after.sendMessage(answer)
  expect((await rest).map(told).at(-1)).toBe('COMPLETED')
}, 90_000)
