import type { Transport, WireAnswer, WireRequest, WireStream } from '../../../src/client/transport.ts'
import { unavailable } from '../../../src/domain/error.ts'

/** Requests of this browser to the daemon that served the page; the cookie of its sign-in goes along by itself. */
export const browserTransport: Transport = {
  async send(request): Promise<WireAnswer> {
    const answer = await ask(request)
    return { status: answer.status, body: await answer.text().catch(gone) }
  },
  async open(request): Promise<WireStream> {
    const answer = await ask(request)
    return { status: answer.status, chunks: textOf(answer) }
  },
  close() {},
}

async function ask({ method, path, headers, body, signal }: WireRequest): Promise<Response> {
  const content: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
  return fetch(path, {
    method,
    headers: { ...content, ...headers },
    body: body ?? null,
    signal: signal ?? null,
    redirect: 'error',
  }).catch(gone)
}

function gone(cause: unknown): never {
  throw unavailable('The daemon does not answer.', cause)
}

async function* textOf(answer: Response): AsyncGenerator<string> {
  if (!answer.body) return
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(gone)
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}
