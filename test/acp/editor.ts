import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  type AnyMessage,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { bundle } from '../bundle.ts'
import { until } from '../engine/until.ts'
import { type Frame, faultsIn } from './schema.ts'

const { pawl: bin } = await bundle()

export interface Told {
  readonly session: string
  readonly update: SessionUpdate
}

/** An editor on the SDK's own client, with `pawl acp` as its agent: a process of its own, every frame of which is kept. */
export async function openEditor(
  home: string,
  options: {
    cwd?: string
    args?: readonly string[]
    env?: Record<string, string>
    capabilities?: ClientCapabilities
    permit?: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>
    fill?: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse>
  } = {},
) {
  const child = spawn(process.execPath, [bin, 'acp', ...(options.args ?? [])], {
    cwd: options.cwd ?? home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      PAWL_HOME: home,
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const ended = new Promise<number | null>((done) => child.once('close', done))
  const frames: Frame[] = []
  const told: Told[] = []
  const keep = (from: Frame['from']) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        frames.push({ from, message: message as unknown as Frame['message'] })
        controller.enqueue(message)
      },
    })
  const wire = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  )
  const outgoing = keep('editor')
  outgoing.readable.pipeTo(wire.writable).catch(() => undefined)
  const connection = client({ name: 'editor' })
    .onRequest(methods.client.session.requestPermission, ({ params }) =>
      options.permit ? options.permit(params) : { outcome: { outcome: 'cancelled' } },
    )
    .onRequest(methods.client.elicitation.create, ({ params }) =>
      options.fill ? options.fill(params) : { action: 'cancel' as const },
    )
    .onNotification(methods.client.session.update, ({ params }) => {
      told.push({ session: params.sessionId, update: params.update })
    })
    .connect({ writable: outgoing.writable, readable: wire.readable.pipeThrough(keep('agent')) })
  const { agent } = connection
  const of = (session: string) => told.filter((each) => each.session === session).map(({ update }) => update)
  const about = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
    clientInfo: { name: 'editor', version: '1.0.0' },
  })
  return {
    about,
    agent,
    child,
    ended,
    stderr: () => stderr,
    updates: of,
    /** What was said in a session, each message whole, however many pieces it came in. */
    text: (session: string, kind: 'user' | 'agent_message' | 'agent_thought' = 'agent_message') => textIn(of(session), kind),
    newSession: (cwd: string) => agent.request(methods.agent.session.new, { cwd, mcpServers: [] }),
    load: (sessionId: string, cwd: string) => agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] }),
    prompt: (sessionId: string, prompt: unknown) =>
      agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: typeof prompt === 'string' ? prompt : JSON.stringify(prompt) }],
      }),
    seen: (session: string, wanted: (update: SessionUpdate) => boolean) => until(() => of(session).find(wanted)),
    faults: () => faultsIn(frames),
    /** As closing the editor does: nothing more is said, and the agent ends by itself. */
    async close(): Promise<number | null> {
      connection.close()
      child.stdin.end()
      return ended
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}
export type TestEditor = Awaited<ReturnType<typeof openEditor>>

function textIn(updates: readonly SessionUpdate[], kind: 'user' | 'agent_message' | 'agent_thought'): string[] {
  const wanted = kind === 'user' ? 'user_message_chunk' : `${kind}_chunk`
  const messages = new Map<string, string>()
  for (const update of updates) {
    if (update.sessionUpdate !== wanted || !('content' in update)) continue
    const { content, messageId } = update as { content: { type: string; text?: string }; messageId?: string | null }
    const id = messageId ?? ''
    messages.set(id, (messages.get(id) ?? '') + (content.text ?? ''))
  }
  return [...messages.values()]
}
