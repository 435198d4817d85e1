import type { Clock } from '../../base/clock.ts'
import { type TraceContext, traceHeaders } from '../../domain/base/trace-context.ts'
import { PawlError } from '../../domain/error.ts'
import type { WebhookWay } from '../../domain/notification/notification.ts'
import type { Resolve } from '../../sandbox/egress/lookup.ts'
import { post } from '../../sandbox/egress/post.ts'
import type { Message } from './message.ts'
import type { Sent } from './sender.ts'
import { signedHeaders } from './sign.ts'

const withinMs = 5_000

/** Posts a message, signed. Answers what came of it; only a mistake of ours is thrown. */
export async function sendWebhook(
  way: WebhookWay,
  message: Message,
  parts: {
    clock: Clock
    secret: string
    redact: <T>(value: T) => T
    resolve?: Resolve | undefined
    signal: AbortSignal
    trace?: TraceContext | undefined
  },
): Promise<Sent> {
  const body = JSON.stringify(parts.redact(message))
  const headers = {
    ...signedHeaders(parts.secret, { id: message.id, nowMs: parts.clock.now(), body }),
    ...traceHeaders(parts.trace),
  }
  const { resolve } = parts
  try {
    // How long we wait for somebody else is no fact about our time: a real timer, whatever clock the rest goes by.
    const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(withinMs)])
    const { status, retryAfterMs } = await post(way, { headers, body, signal, ...(resolve ? { resolve } : {}) })
    const { host } = new URL(way.url)
    if (status >= 200 && status < 300) return { delivered: true, detail: `${host} answered with ${status}.` }
    const why = status >= 300 && status < 400 ? ', and nothing is followed' : ''
    return { delivered: false, detail: `${host} answered with ${status}${why}.`, retryAfterMs }
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    return { delivered: false, detail: error.message }
  }
}
