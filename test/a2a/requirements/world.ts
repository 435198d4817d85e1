import { resolve } from 'node:path'
import type { Task } from '@a2a-js/sdk'
import {
  type Client as A2AClient,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import { decodeErrorInfo, decodeStatus } from '@a2a-js/sdk/errors/grpc'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, InterceptingCall, Metadata, type ServiceError } from '@grpc/grpc-js'
import { json, pawl } from '../../e2e/pawl.ts'
import { type Receiver, startReceiver } from '../../receiver/receiver.ts'
import { type A2AStage, request, startA2A, taskIn } from '../stage.ts'
import type { AnyBinding } from './list.ts'

/** What a raw request came to: the code of its binding, the reason in its details, and a sentence; no code if it was answered. */
export interface Outcome {
  readonly code?: number | undefined
  readonly reason?: string | undefined
  readonly domain?: string | undefined
  readonly message?: string | undefined
  readonly value?: unknown
}

export interface RawOptions {
  readonly token?: string | null
  /** Undefined: 1.0. Null: none at all. */
  readonly version?: string | null
  readonly headers?: Record<string, string>
}

const kit = resolve(import.meta.dirname, '../kit/serve.ts')

/** One daemon for the compatibility kit, spoken to by one binding. */
export interface World {
  readonly binding: AnyBinding
  readonly stage: A2AStage
  readonly receiver: Receiver
  readonly grpcAt: string
  /** The official client. */
  readonly client: A2AClient
  clientBy(binding: AnyBinding): A2AClient
  /** A token of a user with that role, or of kind hook. */
  readonly tokens: { readonly viewer: string; readonly hook: string }
  /** Ids of messages that the kit's daemon knows; each is another. */
  id(prefix: string): string
  /** A settled task of the kit's daemon. */
  made(prefix: string): Promise<Task>
  /** One operation, past the client: what it cannot say. */
  raw(operation: RawOperation, params: Record<string, unknown>, options?: RawOptions): Promise<Outcome>
}

export type RawOperation = 'getTask' | 'sendMessage' | 'listTasks' | 'getExtendedAgentCard' | 'cancelTask'

export interface Ground {
  world(binding: AnyBinding): World
  stop(): Promise<void>
}

export async function startWorld(): Promise<Ground> {
  const receiver = await startReceiver()
  const stage = await startA2A('a2a: { grpcPort: 0, push: { allowPrivate: true } }\n', { program: kit })
  const card = (await (
    await fetch(`${stage.url()}/.well-known/agent-card.json`, { headers: { authorization: `Bearer ${stage.token()}` } })
  ).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[]
  }
  const grpcAt = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? ''
  const token = async (...args: string[]) =>
    json<{ token: string }>(await pawl(stage.home, ['token', 'create', ...args, '--json'])).token
  await pawl(stage.home, ['user', 'add', 'eva', '--role', 'viewer'])
  const tokens = { viewer: await token('--user', 'eva'), hook: await token('--hook') }
  const clients = new Map<AnyBinding, A2AClient>()
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const) clients.set(binding, await connect(stage, binding))
  const grpc = new Client(grpcAt, credentials.createInsecure())
  let count = 0
  const world = (binding: AnyBinding): World => ({
    binding,
    stage,
    receiver,
    grpcAt,
    tokens,
    client: clients.get(binding)!,
    clientBy: (other) => clients.get(other)!,
    id: (prefix) => `${prefix}-${++count}`,
    async made(prefix) {
      return taskIn(await clients.get(binding)!.sendMessage(request({ text: 'please', messageId: this.id(prefix) })))
    },
    raw: (operation, params, options = {}) => raws[binding]({ stage, grpc }, operation, params, options),
  })
  return {
    world,
    async stop() {
      grpc.close()
      await stage.stop()
      await receiver.stop()
    },
  }
}

function connect(stage: A2AStage, binding: AnyBinding): Promise<A2AClient> {
  const shown = `Bearer ${stage.token()}`
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Authorization', shown)
    return fetch(input, { ...init, headers })
  }
  const grpcCallOptions = {
    interceptors: [
      (options: ConstructorParameters<typeof InterceptingCall>[1] & object, next: (options: never) => never) =>
        new InterceptingCall(next(options as never), {
          start(metadata, listener, go) {
            metadata.set('authorization', shown)
            go(metadata, listener)
          },
        }),
    ] as never,
  }
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl }),
      new RestTransportFactory({ fetchImpl }),
      new GrpcTransportFactory({ grpcChannelCredentials: credentials.createInsecure(), grpcCallOptions }),
    ],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  })
  return factory.createFromUrl(`${stage.url()}/a2a/.well-known/agent-card.json`, '')
}

type Raw = (
  at: { stage: A2AStage; grpc: Client },
  operation: RawOperation,
  params: Record<string, unknown>,
  options: RawOptions,
) => Promise<Outcome>

const headersOf = (stage: A2AStage, { token, version, headers }: RawOptions): Record<string, string> => ({
  ...(token === null ? {} : { authorization: `Bearer ${token ?? stage.token()}` }),
  ...(version === null ? {} : { 'a2a-version': version ?? '1.0' }),
  ...headers,
})

interface Detail {
  readonly '@type'?: string
  readonly reason?: string
  readonly domain?: string
}
const infoIn = (details: unknown): Detail | undefined =>
  Array.isArray(details) ? (details as Detail[]).find((one) => one['@type']?.endsWith('google.rpc.ErrorInfo')) : undefined

const paths: Record<RawOperation, (params: Record<string, unknown>) => [string, string, unknown?]> = {
  getTask: ({ id, ...more }) => ['GET', `/tasks/${id}${query(more)}`],
  listTasks: (params) => ['GET', `/tasks${query(params)}`],
  sendMessage: (params) => ['POST', '/message:send', params],
  cancelTask: ({ id }) => ['POST', `/tasks/${id}:cancel`, {}],
  getExtendedAgentCard: () => ['GET', '/extendedAgentCard'],
}
const query = (params: Record<string, unknown>) => {
  const text = new URLSearchParams(Object.entries(params).map(([key, value]) => [key, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

const raws: Record<AnyBinding, Raw> = {
  async JSONRPC({ stage }, operation, params, options) {
    const method = operation[0]!.toUpperCase() + operation.slice(1)
    const response = await fetch(`${stage.url()}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(stage, options) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { error, result } = (await response.json()) as {
      error?: { code: number; message: string; data?: unknown }
      result?: unknown
    }
    if (!error) return { value: result }
    const info = infoIn(error.data)
    return { code: error.code, message: error.message, reason: info?.reason, domain: info?.domain }
  },
  async 'HTTP+JSON'({ stage }, operation, params, options) {
    const [method, path, body] = paths[operation](params)
    const response = await fetch(`${stage.url()}/a2a${path}`, {
      method,
      headers: { ...(body ? { 'content-type': 'application/a2a+json' } : {}), ...headersOf(stage, options) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = (await response.json()) as { error?: { code: number; message: string; details?: unknown } }
    if (response.ok) return { value: answer }
    const info = infoIn(answer.error?.details)
    return { code: response.status, message: answer.error?.message, reason: info?.reason, domain: info?.domain }
  },
  GRPC({ stage, grpc }, operation, params, options) {
    const metadata = new Metadata()
    for (const [key, value] of Object.entries(headersOf(stage, options))) metadata.set(key, value)
    const { path, requestSerialize, responseDeserialize } = A2AService[operation]
    const whole = { ...blank, ...params } as never
    return new Promise((done) => {
      grpc.makeUnaryRequest<unknown, unknown>(
        path,
        requestSerialize as (value: unknown) => Buffer,
        responseDeserialize as (bytes: Buffer) => unknown,
        whole,
        metadata,
        (error: ServiceError | null, value) => done(error ? outcomeOf(error) : { value }),
      )
    })
  },
}
/** What the messages of the service must have to be written. */
const blank = { tenant: '', id: '', contextId: '', pageToken: '', status: 0 }

function outcomeOf(error: ServiceError): Outcome {
  const [bytes] = error.metadata.get('grpc-status-details-bin')
  const detail =
    bytes === undefined ? undefined : decodeStatus(bytes as Buffer).details.find(({ typeUrl }) => typeUrl.endsWith('ErrorInfo'))
  const info = detail && decodeErrorInfo(Buffer.from(detail.value))
  return { code: error.code, message: error.details, reason: info?.reason, domain: info?.domain }
}
