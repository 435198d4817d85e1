import type { Transport, WireAnswer, WireBytes, WireRequest, WireStream } from '../../../src/client/transport/transport.ts'
import { unavailable } from '../../../src/domain/error.ts'

/** A stream gives a sign every fifteen seconds; one that is silent for longer than this has lost its other end without a word. */
const silenceMs = 60_000

/** Requests of this browser to the daemon that served the page; the cookie of its sign-in goes along by itself. */
export const browserTransport: Transport = {
  async send(request): Promise<WireAnswer> {
    const watch = watchSilence(request.signal)
    try {
      const answer = await ask(request, watch.signal)
      return { status: answer.status, body: await answer.text().catch(gone) }
    } finally {
      watch.end()
    }
  },
  async open(request): Promise<WireStream> {
    const watch = watchSilence(request.signal)
    try {
      const answer = await ask(request, watch.signal)
      return { status: answer.status, chunks: textOf(answer, watch) }
    } catch (error) {
      watch.end()
      throw error
    }
  },
  async take(request): Promise<WireBytes> {
    const watch = watchSilence(request.signal)
    try {
      const answer = await ask(request, watch.signal)
      return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer().catch(gone)) }
    } finally {
      watch.end()
    }
  },
  close() {},
}

async function ask({ method, path, headers, body }: WireRequest, signal: AbortSignal): Promise<Response> {
  const content: Record<string, string> =
    body === undefined ? {} : { 'Content-Type': typeof body === 'string' ? 'application/json' : 'application/octet-stream' }
  return fetch(path, { method, headers: { ...content, ...headers }, body: body ?? null, signal, redirect: 'error' }).catch(gone)
}

function gone(cause: unknown): never {
  throw unavailable('The daemon does not answer.', cause)
}

async function* textOf(answer: Response, watch: SilenceWatch): AsyncGenerator<string> {
  if (!answer.body) return watch.end()
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(gone)
      if (done) return
      watch.heard()
      yield value
    }
  } finally {
    watch.end()
    void reader.cancel().catch(() => undefined)
  }
}

interface SilenceWatch {
  /** Aborts with the caller's, or after too long a silence. */
  readonly signal: AbortSignal
  heard(): void
  end(): void
}

function watchSilence(signal: AbortSignal | undefined): SilenceWatch {
  const silent = new AbortController()
  const begin = () => setTimeout(() => silent.abort(), silenceMs)
  let timer = begin()
  return {
    signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    heard() {
      clearTimeout(timer)
      timer = begin()
    },
    end: () => clearTimeout(timer),
  }
}
