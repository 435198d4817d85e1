import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Message, type Part, Role, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { type Running, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/ready-database.ts'

const fakeAgent = resolve(import.meta.dirname, '../fake-agent/fake-agent.js')

export const bindings = ['JSONRPC', 'HTTP+JSON'] as const
export type Binding = (typeof bindings)[number]

/** A real daemon with an agent that plays scripts, and the official client to speak to it. */
export interface A2AStage {
  readonly home: string
  readonly workspace: string
  url(): string
  token(): string
  /** What the daemon has logged so far. */
  log(): string
  /** The official client, at the endpoint of an agent, or at the daemon's own. */
  client(options?: { agent?: string; binding?: Binding; token?: string }): Promise<Client>
  /** What a client may ask of a task in its metadata: that it works where the fake agent lies. */
  readonly inWorkspace: { readonly pawl: { readonly workspace: string } }
  /** As a power cut would. The daemon that follows listens on the same port. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** `settings` are further agents and whatever else the file of settings holds; `program` starts the daemon instead of `pawl serve`. */
export async function startA2A(settings = '', { program }: { program?: string } = {}): Promise<A2AStage> {
  const { path: home, remove } = await makeHome('pawl-a2a-')
  const workspace = await mkdtemp(join(tmpdir(), 'pawl-a2a-ws-'))
  await chmod(workspace, 0o777)
  await copyFile(fakeAgent, join(workspace, 'fake-agent.mjs'))
  const agents = `defaultAgent: fake\nagents:\n  fake: { adapter: custom, command: [${process.execPath}, fake-agent.mjs] }\n`
  await writeFile(join(home, 'config.yaml'), `${agents}${settings}`, { mode: 0o600 })
  let daemon: Running & { url: string; token: string } = await serve(home, { program })
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    daemon.process.kill(signal)
    await daemon.ended
  }
  return {
    home,
    workspace,
    url: () => daemon.url,
    token: () => daemon.token,
    log: () => daemon.stderr(),
    inWorkspace: { pawl: { workspace } },
    client: ({ agent, binding = 'JSONRPC', token = daemon.token } = {}) =>
      connect(`${daemon.url}/a2a${agent === undefined ? '' : `/agents/${agent}`}`, { binding, token }),
    kill: () => end('SIGKILL'),
    async start() {
      daemon = await serve(home, { port: new URL(daemon.url).port, program })
    },
    async stop() {
      if (daemon.process.exitCode === null && daemon.process.signalCode === null) await end('SIGTERM')
      await remove()
      await rm(workspace, { recursive: true, force: true })
    },
  }
}

export function connect(base: string, { binding, token }: { binding: Binding; token: string }): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  })
  return factory.createFromUrl(`${base}/.well-known/agent-card.json`, '')
}

/** A prompt that the fake agent takes for its script. */
export const script = (...steps: Record<string, unknown>[]) => JSON.stringify(steps)

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  mediaType: '',
  filename: '',
  metadata: undefined,
})

export interface Asking extends Partial<Omit<Message, 'parts'>> {
  readonly text?: string | undefined
  readonly parts?: Part[] | undefined
  readonly configuration?: Partial<NonNullable<SendMessageRequest['configuration']>> | undefined
}

export function request({ text, parts, configuration, ...message }: Asking): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: parts ?? [textPart(text ?? '')],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...message,
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
  }
}

export const taskIn = (result: Message | Task): Task => {
  if ('messageId' in result) throw new Error(`a message came instead of a task: ${JSON.stringify(result)}`)
  return result
}

export const stateOf = (task: Pick<Task, 'status'>) => TaskState[task.status?.state ?? -1]?.replace('TASK_STATE_', '')

export const textOf = (parts: readonly Part[] | undefined) =>
  (parts ?? []).flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('')

/** What a stream told, each event in a word or two. */
export function told({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case 'task':
      return `task ${stateOf(payload.value)}`
    case 'message':
      return `message ${textOf(payload.value.parts)}`
    case 'statusUpdate': {
      const said = textOf(payload.value.status?.message?.parts)
      return `${stateOf(payload.value)}${said ? ` ${said}` : ''}`
    }
    case 'artifactUpdate': {
      const { artifact, append, lastChunk } = payload.value
      return `artifact ${artifact?.name}${append ? ' more' : ''}${lastChunk ? ' last' : ''}`
    }
    default:
      return 'nothing'
  }
}

export async function all(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const got: StreamResponse[] = []
  for await (const event of events) got.push(event)
  return got
}
