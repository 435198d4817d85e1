import { connect as connectTls } from 'node:tls'
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { status } from '@grpc/grpc-js'
import { importJWK, type JWK } from 'jose'
import { expect } from 'vitest'
import { request, stateOf } from '../stage.ts'
import type { Check } from './checks.ts'
import type { AnyBinding } from './list.ts'
import type { World } from './world.ts'

const nowhere = 't_0123456789abcdefgh'
/** By JSON-RPC, HTTP and gRPC. */
const codes = {
  TASK_NOT_FOUND: [-32_001, 404, status.NOT_FOUND],
  TASK_NOT_CANCELABLE: [-32_002, 400, status.FAILED_PRECONDITION],
  UNSUPPORTED_OPERATION: [-32_004, 400, status.FAILED_PRECONDITION],
  CONTENT_TYPE_NOT_SUPPORTED: [-32_005, 400, status.INVALID_ARGUMENT],
  VERSION_NOT_SUPPORTED: [-32_009, 400, status.FAILED_PRECONDITION],
} as const
const codeOf = (reason: keyof typeof codes, binding: AnyBinding) =>
  codes[reason][['JSONRPC', 'HTTP+JSON', 'GRPC'].indexOf(binding)]
const message = (parts: unknown[], more: Record<string, unknown> = {}) => ({
  message: { ...request({ text: 'x' }).message, role: 'ROLE_USER', parts, ...more },
})
const get = (world: World, path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.stage.url()}${path}`, {
    headers: { authorization: `Bearer ${world.stage.token()}`, 'a2a-version': '1.0', ...headers },
  })
const post = (world: World, path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${world.stage.url()}${path}`, {
    method: 'POST',
    body,
    headers: {
      authorization: `Bearer ${world.stage.token()}`,
      'a2a-version': '1.0',
      'content-type': 'application/json',
      ...headers,
    },
  })
const cardOf = async (world: World) => (await get(world, '/.well-known/agent-card.json')).json() as Promise<Record<string, never>>

export const bindingChecks = {
  async 'extended.authentication'(world) {
    expect((await world.raw('getExtendedAgentCard', {}, { token: null })).code).toBeDefined()
    expect((await world.raw('getExtendedAgentCard', {}, { token: 'pawl_nonsense' })).code).toBeDefined()
  },
  async 'extended.card'(world) {
    const card = await world.client.getAgentCard()
    expect([card.capabilities?.extendedAgentCard, card.skills.length > 1]).toEqual([true, true])
  },
  async 'error.token'(world) {
    for (const token of [null, 'pawl_nonsense']) {
      const { code } = await world.raw('getTask', { id: nowhere }, { token })
      if (world.binding === 'GRPC') expect(code).toBe(status.UNAUTHENTICATED)
      else expect(code).toBeDefined()
    }
  },
  async 'error.right'(world) {
    const { code, message: said } = await world.raw(
      'sendMessage',
      world.binding === 'GRPC' ? (request({ text: 'x' }) as never) : message([{ text: 'x' }]),
      { token: world.tokens.viewer },
    )
    expect(said).toMatch(/right/)
    if (world.binding === 'GRPC') expect(code).toBe(status.PERMISSION_DENIED)
    else expect(code).toBeDefined()
  },
  async 'error.payload'(world) {
    const { code, message: said } = await world.raw('getTask', { id: nowhere })
    expect([typeof code, said]).toEqual(['number', expect.stringMatching(/no task/)])
  },
  async 'extension.unknown'(world) {
    const { id } = await world.made('tck-complete-task')
    const { value } = await world.raw('getTask', { id }, { headers: { 'a2a-extensions': 'https://example.com/unknown/v1' } })
    expect(value).toMatchObject({ id })
  },
  async 'version.patch'(world) {
    const { id } = await world.made('tck-complete-task')
    expect((await world.raw('getTask', { id }, { version: '1.0.1' })).value).toMatchObject({ id })
  },
  async 'version.unsupported'(world) {
    expect(await world.raw('getTask', { id: nowhere }, { version: '99.0' })).toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      code: codeOf('VERSION_NOT_SUPPORTED', world.binding),
    })
  },
  async 'version.empty'(world) {
    if (world.binding !== 'JSONRPC')
      return expect((await world.raw('getTask', { id: nowhere }, { version: null })).reason).toBe('VERSION_NOT_SUPPORTED')
    // There 0.3 is spoken, with names of its own and other words for states.
    const { id } = await world.made('tck-complete-task')
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } })
    expect(await (await post(world, '/a2a', body, { 'a2a-version': '' })).json()).toMatchObject({
      result: { kind: 'task', status: { state: 'completed' } },
    })
  },
  async 'binding.equal'(world) {
    const { id } = await world.made('tck-artifact-data')
    const seen = await Promise.all(
      (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => world.clientBy(binding).getTask({ tenant: '', id })),
    )
    expect(seen[0]?.artifacts[0]?.parts[0]?.content).toMatchObject({ $case: 'data', value: { key: 'value', count: 42 } })
    for (const one of seen) expect(one).toEqual(seen[0])
  },
  async 'error.codes'(world) {
    const { id } = await world.made('tck-complete-task')
    const isGrpc = world.binding === 'GRPC'
    const odd = {
      content: { $case: 'raw', value: Buffer.from('x') },
      mediaType: 'application/x-unknown',
      filename: '',
      metadata: undefined,
    }
    const sent = (more: Record<string, unknown>, part: unknown) =>
      isGrpc
        ? { ...request({ ...more, ...(part ? { parts: [part as never] } : { text: 'x' }) }) }
        : message([part ? { raw: 'eA==', mediaType: 'application/x-unknown' } : { text: 'x' }], more)
    const tried = {
      TASK_NOT_FOUND: world.raw('getTask', { id: nowhere }),
      TASK_NOT_CANCELABLE: world.raw('cancelTask', { id }),
      UNSUPPORTED_OPERATION: world.raw('sendMessage', sent({ taskId: id }, undefined) as never),
      CONTENT_TYPE_NOT_SUPPORTED: world.raw('sendMessage', sent({}, odd) as never),
      VERSION_NOT_SUPPORTED: world.raw('getTask', { id }, { version: '2.7' }),
    }
    for (const [reason, outcome] of Object.entries(tried))
      expect(await outcome).toMatchObject({
        reason,
        domain: 'a2a-protocol.org',
        code: codeOf(reason as keyof typeof codes, world.binding),
      })
  },
  async 'json.names'(world) {
    const { id } = await world.made('tck-artifact-text')
    const { value } = await world.raw('getTask', { id })
    expect(value).toMatchObject({
      contextId: expect.any(String),
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: expect.any(String) }],
    })
  },
  async 'json.times'(world) {
    const { id } = await world.made('tck-complete-task')
    const { value } = await world.raw('getTask', { id })
    expect((value as { status: { timestamp: string } }).status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  },
  async tls(world) {
    const at = new URL(world.binding === 'GRPC' ? `http://${world.grpcAt}` : world.stage.url())
    await new Promise<void>((done, fail) => {
      const socket = connectTls({ host: at.hostname, port: Number(at.port), rejectUnauthorized: false })
      socket.once('secureConnect', () => done()).once('error', fail)
      socket.setTimeout(5_000, () => socket.destroy(new Error('nothing was said')))
    })
  },
  async 'authentication.each'(world) {
    const { id } = await world.made('tck-complete-task')
    expect((await world.raw('getTask', { id })).code).toBeUndefined()
    expect((await world.raw('getTask', { id }, { token: null })).code).toBeDefined()
  },
  async 'card.there'(world) {
    const response = await get(world, '/.well-known/agent-card.json')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringMatching(/json/)])
  },
  async 'card.interfaces'(world) {
    const { supportedInterfaces } = (await cardOf(world)) as unknown as AgentCard
    const own = supportedInterfaces.find(
      ({ protocolBinding, protocolVersion }) => protocolBinding === world.binding && protocolVersion === '1.0',
    )
    expect(own?.url).toBe(world.binding === 'GRPC' ? world.grpcAt : `${world.stage.url()}/a2a`)
  },
  async 'card.fields'(world) {
    expect(await cardOf(world)).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      version: expect.any(String),
      supportedInterfaces: expect.any(Array),
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      defaultInputModes: expect.any(Array),
      defaultOutputModes: expect.any(Array),
      skills: [{ id: expect.any(String), name: expect.any(String), description: expect.any(String), tags: expect.any(Array) }],
    })
  },
  async 'card.signed'(world) {
    const card = AgentCard.fromJSON((await cardOf(world)) as never)
    const keys = ((await (await get(world, '/a2a/jwks.json')).json()) as { keys: (JWK & { kid: string })[] }).keys
    const check = verifyAgentCardSignature(
      async (kid: string) => importJWK(keys.find((one) => one.kid === kid)!, 'ES256') as never,
    )
    await check(card)
    await expect(async () => check({ ...card, name: 'Another' })).rejects.toThrow()
  },
  async 'card.header'(world) {
    const { signatures } = (await cardOf(world)) as unknown as { signatures: { protected: string }[] }
    const header = JSON.parse(Buffer.from(signatures[0]!.protected, 'base64url').toString()) as object
    expect(header).toMatchObject({ alg: 'ES256', kid: expect.any(String) })
  },
  async 'rpc.form'(world) {
    const params = message([{ text: 'x' }], { messageId: world.id('tck-stream-001') })
    const response = await post(
      world,
      '/a2a',
      JSON.stringify({ jsonrpc: '2.0', id: 'mine', method: 'SendStreamingMessage', params }),
    )
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const events = (await response.text()).split('\n').filter((line) => line.startsWith('data:'))
    for (const event of events)
      expect(JSON.parse(event.slice(5))).toMatchObject({ jsonrpc: '2.0', id: 'mine', result: expect.any(Object) })
  },
  async 'rpc.errors'(world) {
    const codeFor = async (body: string) =>
      ((await (await post(world, '/a2a', body)).json()) as { error: { code: number } }).error.code
    expect(await codeFor('{')).toBe(-32_700)
    expect(await codeFor('{"jsonrpc":"1.0","id":1}')).toBe(-32_600)
    expect(await codeFor('{"jsonrpc":"2.0","id":1,"method":"Nothing","params":{}}')).toBe(-32_601)
    expect(await codeFor('{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[]}}}')).toBe(-32_602)
  },
  async 'rpc.details'(world) {
    expect(await world.raw('getTask', { id: nowhere })).toMatchObject({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' })
  },
  async parameters(world) {
    const { id } = await world.made('tck-complete-task')
    const name = world.binding === 'GRPC' ? 'a2a-version' : 'A2A-VERSION'
    expect((await world.raw('getTask', { id }, { version: null, headers: { [name]: '1.0' } })).value).toMatchObject({ id })
  },
  async 'grpc.service'(world) {
    const { id } = await world.made('tck-complete-task')
    expect(Object.keys(A2AService)).toHaveLength(11)
    expect((await world.raw('getTask', { id })).value).toMatchObject({ id })
    expect((await world.raw('listTasks', { pageSize: 1 })).value).toMatchObject({ tasks: [expect.any(Object)] })
    expect((await world.raw('getExtendedAgentCard', {})).value).toMatchObject({ name: expect.any(String) })
  },
  async 'grpc.details'(world) {
    expect(await world.raw('getTask', { id: nowhere })).toMatchObject({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' })
    expect((await world.raw('getTask', { id: nowhere }, { token: null })).reason).toBe('UNAUTHENTICATED')
  },
  async 'grpc.stream'(world) {
    expect([A2AService.sendStreamingMessage.responseStream, A2AService.subscribeToTask.responseStream]).toEqual([true, true])
    const states: (string | undefined)[] = []
    for await (const { payload } of world.client.sendMessageStream(request({ text: 'x', messageId: world.id('tck-stream-001') })))
      if (payload?.$case === 'statusUpdate') states.push(stateOf(payload.value))
    expect(states.at(-1)).toBe('COMPLETED')
  },
  async 'rest.paths'(world) {
    const { id } = await world.made('tck-complete-task')
    const statuses = await Promise.all([
      get(world, `/a2a/tasks/${id}`),
      get(world, '/a2a/tasks'),
      get(world, '/a2a/extendedAgentCard'),
      get(world, `/a2a/tasks/${id}/pushNotificationConfigs`),
      post(world, `/a2a/tasks/${id}:cancel`, '{}'),
      post(world, `/a2a/tasks/${id}:subscribe`, '{}'),
      post(world, '/a2a/message:send', JSON.stringify(message([{ text: 'x' }]))),
    ])
    expect(statuses.map((response) => response.status)).toEqual([200, 200, 200, 200, 400, 400, 200])
  },
  async 'rest.query'(world) {
    const { id, contextId } = await world.made('tck-complete-task')
    const response = await get(world, `/a2a/tasks?contextId=${contextId}&pageSize=1&historyLength=0`)
    expect(await response.json()).toMatchObject({ tasks: [{ id }] })
  },
  async 'rest.errors'(world) {
    const response = await get(world, `/a2a/tasks/${nowhere}`)
    expect(await response.json()).toMatchObject({
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: expect.any(String),
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }],
      },
    })
  },
  async 'rest.stream'(world) {
    const body = JSON.stringify(message([{ text: 'x' }], { messageId: world.id('tck-stream-001') }))
    const response = await post(world, '/a2a/message:stream', body)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const events = (await response.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data:') ? [JSON.parse(line.slice(5)) as object] : []))
    expect(Object.keys(events[0]!)).toEqual(['task'])
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } })
  },
  async 'scope.user'(world) {
    const { id } = await world.made('tck-complete-task')
    for (const [operation, params] of [
      ['getTask', { id }],
      ['listTasks', {}],
      ['cancelTask', { id }],
    ] as const) {
      const { code, value } = await world.raw(operation, params, { token: world.tokens.hook })
      expect([value, typeof code]).toEqual([undefined, 'number'])
    }
  },
} satisfies Record<string, Check>
