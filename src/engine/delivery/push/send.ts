import type { Clock } from '../../../base/clock.ts'
import { PawlError } from '../../../domain/error.ts'
import type { PushWay } from '../../../domain/notification/notification.ts'
import type { Resolve } from '../../../sandbox/egress/lookup.ts'
import { post } from '../../../sandbox/egress/post.ts'
import type { Message } from '../message.ts'
import type { Sent } from '../sender.ts'
import { encryptPush } from './encrypt.ts'
import { payloadOf } from './payload.ts'
import { type SenderKey, vapidHeader } from './vapid.ts'

/** What it takes to speak to push services. */
export interface PushSender {
  readonly senderKey: () => Promise<SenderKey | undefined>
  /** Whom a push service writes to if something is wrong: mailto: or https:. */
  readonly contact: string
  /** May a push service be on this machine or in a private network, and without TLS? */
  readonly allowPrivate: boolean
}

const withinMs = 10_000
/** A browser that is off is told when it is on again, if that is within a day. */
const keptSeconds = 86_400

/** Hands a message to the push service of a browser, which cannot read it. Answers what came of it; only a mistake of ours is thrown. */
export async function sendPush(
  { endpoint, p256dh, auth, seesDetail }: PushWay,
  message: Message,
  parts: Partial<PushSender> & {
    clock: Clock
    redact: <T>(value: T) => T
    resolve?: Resolve | undefined
    signal: AbortSignal
  },
): Promise<Sent> {
  const { clock, contact = '', allowPrivate = false, resolve } = parts
  const key = await parts.senderKey?.()
  if (!key) return { delivered: false, detail: 'The key that push services know this Pawl by is not in its home.' }
  // Before it is shortened: half a secret is not known as one.
  const payload = payloadOf(parts.redact(message), { seesDetail })
  const { host } = new URL(endpoint)
  const headers = {
    authorization: vapidHeader(key, { endpoint, contact, nowMs: clock.now() }),
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(keptSeconds),
    urgency: message.type.startsWith('question.') ? 'high' : 'normal',
  }
  try {
    const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(withinMs)])
    const body = encryptPush(JSON.stringify(payload), { p256dh, auth })
    const to = { url: endpoint, allowPrivate }
    const { status, retryAfterMs } = await post(to, { headers, body, signal, ...(resolve ? { resolve } : {}) })
    if (status >= 200 && status < 300) return { delivered: true, detail: `${host} answered with ${status}.` }
    if (status === 404 || status === 410)
      return { delivered: false, isGone: true, detail: `${host} says that this browser wants no more messages (${status}).` }
    return { delivered: false, detail: `${host} answered with ${status}.`, retryAfterMs }
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    return { delivered: false, detail: error.message }
  }
}
