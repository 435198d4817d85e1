/**
 * A remote agent made of the protocol library's own sample parts, which does what its prompt says and misbehaves when told to. As a program it prints its address and serves until
 * it is ended. Everything that it was asked is told at GET /seen.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type AgentCard, type AgentInterface, generateAgentCardSignature, type Part, type Task, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  type ServerCallContext,
} from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express, { type NextFunction, type Request, type Response } from 'express'
import { exportJWK, generateKeyPair, type JWK } from 'jose'

export interface Seen {
  /** Tasks that were begun, by their prompts. */
  readonly tasks: string[]
  readonly messages: { readonly id: string; readonly task: string; readonly text: string; readonly files: string[] }[]
  readonly calls: { readonly method: string; readonly path: string; readonly headers: Record<string, string> }[]
  readonly cancelled: string[]
}

export interface Peer {
  readonly url: string
  readonly seen: Seen
  /** The public key that its cards are signed with. */
  readonly key: JWK
  /** Lets tasks that wait go on. */
  release(): void
  /** Goes away: whoever calls is cut off, until it is back. What it works on goes on. */
  leave(): void
  comeBack(): void
  close(): Promise<void>
}

const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})
const file = (filename: string, value: Buffer): Part => ({
  content: { $case: 'raw', value },
  metadata: undefined,
  filename,
  mediaType: '',
})
const wordsOf = (parts: readonly Part[]) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')

export async function startPeer(): Promise<Peer> {
  const seen: Seen = { tasks: [], messages: [], calls: [], cancelled: [] }
  let gate = Promise.withResolvers<void>()
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key: JWK = { ...(await exportJWK(publicKey)), kid: 'peer-1', alg: 'ES256' }
  const cancelled = new Map<string, () => void>()
  const byMessage = new Map<string, string>()

  const executor: AgentExecutor = {
    async execute(asked, bus) {
      const { taskId, contextId, userMessage, task } = asked
      const words = wordsOf(userMessage.parts)
      const files = userMessage.parts.flatMap(({ content, filename }) =>
        content?.$case === 'raw' ? [`${filename}=${Buffer.from(content.value).toString('utf8')}`] : [],
      )
      seen.messages.push({ id: userMessage.messageId, task: taskId, text: words, files })
      if (!task) seen.tasks.push(words)
      byMessage.set(userMessage.messageId, taskId)
      const stop = Promise.withResolvers<void>()
      cancelled.set(taskId, stop.resolve)
      await play(asked, words, voiceOf(bus, taskId, contextId, task, userMessage), stop.promise)
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      seen.cancelled.push(taskId)
      cancelled.get(taskId)?.()
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId: '', status: statusOf(TaskState.TASK_STATE_CANCELED), metadata: undefined }),
      )
    },
  }

  async function play(asked: RequestContext, words: string, voice: Voice, stopped: Promise<void>): Promise<void> {
    const [, verb = '', rest = ''] = /^(\w+):\s*(.*)$/s.exec(words) ?? []
    if (verb === 'message') return voice.message(rest)
    voice.begin()
    if (asked.task) {
      const heard = seen.messages.filter(({ task }) => task === asked.taskId)
      if (heard[0]?.text.startsWith('twice:') && heard.length === 2)
        return voice.status(TaskState.TASK_STATE_INPUT_REQUIRED, 'And the size?')
      voice.artifact('answer', [text(`You answered: ${words}`)])
      return voice.end(TaskState.TASK_STATE_COMPLETED)
    }
    switch (verb) {
      case 'ask':
      case 'twice':
        return voice.status(TaskState.TASK_STATE_INPUT_REQUIRED, rest)
      case 'login':
        return voice.status(TaskState.TASK_STATE_AUTH_REQUIRED, rest)
      case 'fail':
        return voice.end(TaskState.TASK_STATE_FAILED, rest)
      case 'reject':
        return voice.end(TaskState.TASK_STATE_REJECTED, rest)
      case 'wait':
      case 'cut':
        voice.status(TaskState.TASK_STATE_WORKING, `working on ${rest}`)
        await Promise.race([gate.promise, stopped])
        break
      case 'hang':
        await stopped
        return
      case 'files':
        voice.artifact('report', [
          text('see the file'),
          file('../../.bashrc', Buffer.from('echo hello')),
          file('report.txt', Buffer.from(rest)),
        ])
        return voice.end(TaskState.TASK_STATE_COMPLETED)
      case 'huge':
        voice.artifact('huge', [text('x'.repeat(Number(rest) * 1024 * 1024))])
        return voice.end(TaskState.TASK_STATE_COMPLETED)
      case 'pieces':
        for (const [index, piece] of rest.split(' ').entries()) voice.artifact('pieces', [text(`${piece} `)], index > 0)
        return voice.end(TaskState.TASK_STATE_COMPLETED)
    }
    voice.artifact('answer', [text(verb === '' ? words : `done: ${rest}`)])
    voice.end(TaskState.TASK_STATE_COMPLETED, 'That was all.')
  }

  const app = express()
  const server: Server = createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  let isAway = false
  app.use((request: Request, _response: Response, next: NextFunction) => {
    const { method, path } = request
    if (isAway) return void request.socket.destroy()
    seen.calls.push({
      method: method ?? '',
      path,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    })
    next()
  })
  app.use(express.json({ limit: '64mb' }))
  app.get('/seen', (_request: Request, response: Response) => void response.json(seen))
  app.post('/release', (_request: Request, response: Response) => {
    release()
    response.end()
  })
  app.get('/keys', (_request: Request, response: Response) => void response.json({ keys: [key] }))
  app.get('/redirect/.well-known/agent-card.json', (_request: Request, response: Response) =>
    response.redirect('http://127.0.0.2:9/card.json'),
  )
  app.get('/silent/.well-known/agent-card.json', () => undefined)

  const sign = (header: object) => generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'peer-1', typ: 'JOSE', ...header })
  mount('/plain', {})
  mount('/signed', { finish: sign({ jku: `${origin}/keys` }) })
  mount('/pinned', { finish: sign({}) })
  mount('/tampered', {
    finish: async (card) => ({ ...(await sign({ jku: `${origin}/keys` })(card)), description: 'changed on the way' }),
  })
  mount('/polled', { streaming: false })
  mount('/rest', { offers: (base) => [offer(`${base}/rest`, 'HTTP+JSON', '1.0')] })
  mount('/elsewhere', { offers: () => [offer('http://127.0.0.3:9/rpc', 'JSONRPC', '1.0')] })
  mount('/old', { offers: (base) => [offer(`${base}/rpc`, 'JSONRPC', '0.3')], isOld: true })
  mount('/keyed', { guard: (request) => request.headers.authorization === 'Bearer right-key-0123456789' })
  mount('/named', { guard: (request) => request.headers['x-api-key'] === 'right-key-0123456789' })
  mount('/cutting', { cuts: 2 })
  mount('/lossy', { cuts: 1, before: true })

  function mount(
    path: string,
    how: {
      finish?: (card: AgentCard) => Promise<AgentCard>
      streaming?: boolean
      offers?: (base: string) => AgentInterface[]
      isOld?: boolean
      guard?: (request: Request) => boolean
      /** So many streams are cut after their first event; or `before` it, when the message has been taken. */
      cuts?: number
      before?: boolean
    },
  ): void {
    const base = `${origin}${path}`
    const card = cardOf(how.offers?.(base) ?? [offer(`${base}/rpc`, 'JSONRPC', '1.0')], how.streaming ?? true)
    const handler = new RememberingHandler(card, new InMemoryTaskStore(), executor, byMessage)
    const finished = Promise.resolve(how.finish?.(card) ?? card)
    const legacyCompat = { enabled: how.isOld === true }
    const { guard } = how
    let cuts = how.cuts ?? 0
    if (guard)
      app.use(path, (request: Request, response: Response, next: NextFunction) => {
        if (guard(request)) next()
        else response.status(401).json({ error: 'who are you?' })
      })
    app.use(path, (_request: Request, response: Response, next: NextFunction) => {
      if (cuts > 0) {
        const write = response.write.bind(response)
        response.write = ((chunk: Buffer | string) => {
          if (!String(chunk).includes('data:') || cuts <= 0) return write(chunk)
          cuts--
          if (!how.before) write(chunk)
          setTimeout(() => response.destroy(), how.before ? 0 : 50)
          return true
        }) as typeof response.write
      }
      next()
    })
    app.use(`${path}/.well-known/agent-card.json`, agentCardHandler({ agentCardProvider: () => finished, legacyCompat }))
    app.use(`${path}/rpc`, jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat }))
    app.use(`${path}/rest`, restHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }))
  }

  function release(): void {
    gate.resolve()
    gate = Promise.withResolvers<void>()
  }
  return {
    url: origin,
    seen,
    key,
    release,
    leave() {
      isAway = true
      server.closeAllConnections()
    },
    comeBack() {
      isAway = false
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** A good server: a message that comes twice is one. */
class RememberingHandler extends DefaultRequestHandler {
  readonly #known: ReadonlyMap<string, string>

  constructor(card: AgentCard, store: InMemoryTaskStore, executor: AgentExecutor, known: ReadonlyMap<string, string>) {
    super(card, store, executor)
    this.#known = known
  }

  override async *sendMessageStream(
    params: Parameters<DefaultRequestHandler['sendMessageStream']>[0],
    context: ServerCallContext,
  ) {
    const known = this.#known.get(params.message?.messageId ?? '')
    if (known === undefined) return yield* super.sendMessageStream(params, context)
    const task = await this.getTask({ tenant: '', id: known }, context)
    yield { payload: { $case: 'task' as const, value: task } }
    if (task.status?.state === TaskState.TASK_STATE_WORKING) yield* this.resubscribe({ tenant: '', id: known }, context)
  }
}

interface Voice {
  begin(): void
  status(state: TaskState, words?: string): void
  artifact(id: string, parts: Part[], append?: boolean): void
  message(words: string): void
  end(state: TaskState, words?: string): void
}

function voiceOf(
  bus: ExecutionEventBus,
  taskId: string,
  contextId: string,
  task: Task | undefined,
  asked: RequestContext['userMessage'],
): Voice {
  const status = (state: TaskState, words?: string) =>
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, words, { taskId, contextId }), metadata: undefined }),
    )
  return {
    begin: () =>
      bus.publish(
        AgentEvent.task(
          task
            ? { ...task, status: statusOf(TaskState.TASK_STATE_WORKING) }
            : {
                id: taskId,
                contextId,
                status: statusOf(TaskState.TASK_STATE_SUBMITTED),
                artifacts: [],
                history: [asked],
                metadata: undefined,
              },
        ),
      ),
    status,
    artifact: (artifactId, parts, append = false) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { artifactId, name: artifactId, description: '', parts, metadata: undefined, extensions: [] },
          append,
          lastChunk: false,
          metadata: undefined,
        }),
      ),
    message: (words) => bus.publish(AgentEvent.message(messageOf(words, { contextId }))),
    end: status,
  }
}

const messageOf = (words: string, ids: { taskId?: string; contextId: string }) => ({
  messageId: randomUUID(),
  taskId: ids.taskId ?? '',
  contextId: ids.contextId,
  role: 2,
  parts: [text(words)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

const statusOf = (state: TaskState, words?: string, ids = { taskId: '', contextId: '' }) => ({
  state,
  message: words === undefined ? undefined : messageOf(words, ids),
  timestamp: new Date().toISOString(),
})

const offer = (url: string, protocolBinding: string, protocolVersion: string): AgentInterface => ({
  url,
  protocolBinding,
  protocolVersion,
  tenant: '',
})

const cardOf = (supportedInterfaces: AgentInterface[], streaming: boolean): AgentCard => ({
  name: 'Colleague',
  description: 'Repeats what it is told.',
  version: '1.2.0',
  provider: undefined,
  supportedInterfaces,
  capabilities: { streaming, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'repeat',
      name: 'Repeating',
      description: 'Says it again.',
      tags: [],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  signatures: [],
})

if (process.argv[1] === import.meta.filename) {
  const peer = await startPeer()
  process.stdout.write(`${JSON.stringify({ url: peer.url })}\n`)
  // Ends with whoever started it.
  process.stdin.resume().on('end', () => process.exit(0))
  await wait(2 ** 31 - 1, undefined, { ref: false })
}
