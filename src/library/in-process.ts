import type { Log } from '../base/log.ts'
import { version } from '../base/version.ts'
import { type Client, createClientOver } from '../client/client.ts'
import type { Transport, WireRequest } from '../client/transport/transport.ts'
import type { Daemon } from '../daemon/daemon.ts'
import { localUser, type Principal } from '../domain/auth/role.ts'
import { createHttpSurface } from '../surfaces/http/server.ts'

const host = 'pawl.in-process'
/** Whoever has the process has all that is in it. */
const owner: Principal = { user: localUser, standing: 'admin', token: 'home' }

/** The verbs of the API on an engine of this process: the same routes, checks and shapes, without a port, a socket or a token. */
export function clientOf(daemon: Daemon, { log }: { log: Log }): Client {
  const { app } = createHttpSurface({
    runtime: daemon.runtime,
    entrance: { ...daemon.entrance, authenticate: async () => owner },
    audit: daemon.audit,
    secrets: daemon.secrets,
    log,
    version,
    allowedHosts: [host],
    shutdown: () => void daemon.stop(),
  })
  const answerTo = async ({ method, path, headers, body, signal }: WireRequest): Promise<Response> => {
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream'
    const length = body === undefined ? {} : { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(body)) }
    const all = { ...headers, ...length, Host: host, Authorization: 'Bearer in-process' }
    signal?.throwIfAborted()
    return app.request(path, { method, headers: all, body: body ?? null })
  }
  const transport: Transport = {
    async send(request) {
      const answer = await answerTo(request)
      return { status: answer.status, body: await answer.text() }
    },
    async open(request) {
      const answer = await answerTo(request)
      return { status: answer.status, chunks: textOf(answer) }
    },
    async take(request) {
      const answer = await answerTo(request)
      return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
    },
    close: () => undefined,
  }
  const { runtime } = daemon
  return {
    ...createClientOver(transport, { name: 'library' }),
    // What happens in this process is heard of at once.
    async *followEvents(task, { after = 0, signal = never() } = {}) {
      for await (const batch of runtime.followEvents(task, { after, signal })) yield* batch
    },
  }
}

const never = () => new AbortController().signal

async function* textOf(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const bytes of answer.body ?? []) yield decoder.decode(bytes, { stream: true })
}
