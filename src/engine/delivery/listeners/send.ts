import type { Clock } from '../../../base/clock.ts'
import { fp } from '../../../base/failpoint.ts'
import { lesserRole, type Role, roles, type Standing } from '../../../domain/auth/role.ts'
import { traceHeaders } from '../../../domain/base/trace-context.ts'
import { messageOf, PawlError } from '../../../domain/error.ts'
import type { Redactor } from '../../../redact/redactor.ts'
import type { Resolve } from '../../../sandbox/egress/lookup.ts'
import { post } from '../../../sandbox/egress/post.ts'
import type { Db } from '../../../store/database.ts'
import { livingListener } from '../../../store/listeners.ts'
import type { OutboxRow } from '../../../store/tables.ts'
import type { Contexts } from '../../../telemetry/contexts.ts'
import type { Sent } from '../sender.ts'
import { findListenerKey, type ListenerKey } from './key.ts'
import { viewOf } from './make.ts'

/** What is said of one event, in the words of the protocol that the listener speaks: the same in the same order, however often it is asked. */
export type Compose = (what: {
  readonly task: string
  /** The number of the event in the task's journal. */
  readonly seq: number
  /** What whoever listens may hear of it. */
  readonly standing: Standing
  readonly wire: string
}) => AsyncIterable<{ readonly body: string; readonly contentType: string }>

export interface ListenerSender {
  /** The public half of the key of those that this process can send to; undefined if there is none. */
  senderKey(): Promise<string | undefined>
  send(row: OutboxRow, signal: AbortSignal): Promise<Sent>
}

const withinMs = 10_000

export function createListenerSender(parts: {
  db: Db
  clock: Clock
  home: string
  redactor: Redactor
  allowPrivate: boolean
  compose: Compose
  resolve?: Resolve | undefined
  contexts?: Pick<Contexts, 'ofTask'> | undefined
}): ListenerSender {
  const { db, clock, home, redactor, resolve } = parts
  let key: ListenerKey | undefined
  const known = new Set<string>()
  /** What an address is shown is nobody else's: neither the log nor the list of notifications may say it. */
  const learn = (what: string, value: string | undefined) => {
    if (value === undefined || value === '' || known.has(value)) return
    known.add(value)
    redactor.add(what, value)
  }
  return {
    async senderKey() {
      key ??= await findListenerKey(home)
      return key?.jwk.x
    },
    async send(row, signal) {
      key ??= await findListenerKey(home)
      try {
        const found = await livingListener(db, row.target)
        if (!found || !key) return { delivered: false, isGone: true, detail: 'Nobody listens there any more.' }
        const listener = viewOf(found, key)
        learn('listener token', listener.token)
        learn('listener credentials', listener.credentials)
        const { seq } = row.body as unknown as { seq: number }
        const standing = isRole(found.standing) ? lesserRole(found.standing, found.role) : found.standing
        let count = 0
        for await (const { body, contentType } of parts.compose({ task: row.task_id, seq, standing, wire: found.wire })) {
          const id = count++ === 0 ? row.id : `${row.id}.${count}`
          const headers = {
            ...signedBy(key, { id, nowMs: clock.now(), body }),
            ...shownTo(listener),
            ...traceHeaders(parts.contexts?.ofTask({ task: row.task_id, root: found.root, trace: found.trace })),
            'content-type': contentType,
          }
          await fp('listener.send')
          const { status, retryAfterMs } = await post(
            { url: listener.url, allowPrivate: parts.allowPrivate },
            {
              headers,
              body,
              signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
              ...(resolve ? { resolve } : {}),
            },
          )
          await fp('listener.sent')
          const detail = `${new URL(listener.url).host} answered with ${status}.`
          if (status < 200 || status >= 300) return { delivered: false, isGone: status === 410, detail, retryAfterMs }
        }
        return { delivered: true, detail: `${new URL(listener.url).host} was told ${count === 1 ? 'it' : `${count} things`}.` }
      } catch (error) {
        // Whatever it was, it is one failed try, kept with its reason.
        return { delivered: false, detail: redactor.text(error instanceof PawlError ? error.message : messageOf(error)) }
      }
    },
  }
}

const isRole = (standing: Standing): standing is Role => (roles as readonly string[]).includes(standing)

/** As Standard Webhooks has it for keys of two halves (`v1a`): the address needs no secret of ours to know who speaks. */
function signedBy(key: ListenerKey, { id, nowMs, body }: { id: string; nowMs: number; body: string }): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signature = key.sign(`${id}.${timestamp}.${body}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1a,${signature}` }
}

function shownTo({
  token,
  scheme,
  credentials,
}: {
  token?: string | undefined
  scheme?: string | undefined
  credentials?: string | undefined
}) {
  return {
    ...(token ? { 'x-a2a-notification-token': token } : {}),
    ...(scheme ? { authorization: credentials ? `${scheme} ${credentials}` : scheme } : {}),
  }
}
