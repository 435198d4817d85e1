import { ECDH } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { localUser } from '../domain/auth/role.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { NotificationTest } from '../domain/notification/notification.ts'
import {
  type NewPush,
  type PushState,
  type PushView,
  pushEvents,
  pushTarget,
  usualPushEvents,
} from '../domain/notification/push.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { ensureSenderKey } from '../engine/delivery/push/key-file.ts'
import type { Subscribers } from '../engine/delivery/push/subscribers.ts'
import type { Sender } from '../engine/delivery/sender.ts'
import type { Bus } from '../engine/journal/bus.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db } from '../store/database.ts'
import * as store from '../store/push.ts'
import type { PushRow } from '../store/tables.ts'
import { madeUp } from './notifications.ts'

/** The browsers of whoever asks, which are told what happens while nobody looks at the page. */
export interface PushVerbs {
  getPush(caller: Caller): Promise<PushState>
  /** The same browser again changes what it wants to hear. */
  subscribePush(push: NewPush, caller: Caller): Promise<PushView>
  removePush(id: string, caller: Caller): Promise<void>
  /** Sends it a made-up message now, and tells what came of it. */
  testPush(id: string, caller: Caller): Promise<NotificationTest>
}

export interface PushVerbParts {
  readonly db: Db
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
  readonly home: string
  readonly sender?: Sender | undefined
  readonly subscribers?: Subscribers | undefined
  /** May a push service be reached without TLS, on this machine? */
  readonly allowsPrivatePush?: boolean | undefined
}

export function pushVerbs(parts: PushVerbParts): PushVerbs {
  const { db, bus, clock, audit, home, sender, subscribers } = parts
  const userOf = ({ user = localUser }: Caller) => user
  const owned = async (id: string, caller: Caller) => {
    const row = await translateDbErrors(() => store.findPush(db, id))
    // Whose it is concerns nobody else.
    if (!row || row.user_name !== userOf(caller)) throw notFound(`There is no browser ${id} of yours that is told anything.`)
    return row
  }
  const changed = async () => {
    bus.tell('push')
    await translateDbErrors(async () => subscribers?.refresh())
  }
  return {
    async getPush(caller) {
      const key = await ensureSenderKey(home)
      const rows = await translateDbErrors(() => store.pushOfUser(db, userOf(caller)))
      return { publicKey: key.public, events: [...pushEvents], items: rows.map(viewOf) }
    },

    async subscribePush({ endpoint, keys, events, label }, caller) {
      if (!endpoint.startsWith('https:') && !parts.allowsPrivatePush)
        throw invalid('The address of a push service must be https.')
      if (!isPoint(keys.p256dh)) throw invalid('keys.p256dh is no public key of P-256; take it as the browser gives it.')
      const key = await ensureSenderKey(home)
      const row = await translateDbErrors(() =>
        db.transaction().execute(async (tx) => {
          const kept = await store.upsertPush(tx, {
            ...{ id: newId('push', clock.now()), user_name: userOf(caller), token_id: tokenOf(caller), endpoint },
            ...{ p256dh: keys.p256dh, auth: keys.auth, sender_key: key.public, events: [...(events ?? usualPushEvents)] },
            ...{ label: label ?? 'a browser', created_at: new Date(clock.now()) },
          })
          if (kept) await insertAudit(tx, audit.entry(caller, 'push.subscribe', kept.id, { service: serviceOf(kept) }))
          return kept
        }),
      )
      if (!row)
        throw conflict(`You have ${store.mostPerUser} browsers that are told already; remove one: pawl notifications browsers.`)
      await changed()
      return viewOf(row)
    },

    async removePush(id, caller) {
      const row = await owned(id, caller)
      await translateDbErrors(() =>
        db.transaction().execute(async (tx) => {
          await store.removePush(tx, id)
          await insertAudit(tx, audit.entry(caller, 'push.remove', id, { service: serviceOf(row) }))
        }),
      )
      await changed()
    },

    async testPush(id, caller) {
      await owned(id, caller)
      await translateDbErrors(async () => subscribers?.refresh())
      const target = subscribers?.own().find(({ name }) => name === pushTarget(id))
      if (!target || !sender)
        throw conflict('This Pawl cannot send to that browser: it subscribed at another home. Switch it off and on again there.')
      const startedAt = clock.monotonic()
      const { delivered, detail, isGone } = await sender.send(
        target,
        madeUp(target, home, clock.now()),
        AbortSignal.timeout(20_000),
      )
      if (isGone) {
        await translateDbErrors(() => store.removePush(db, id))
        await changed()
      }
      return { target: target.name, delivered, detail, ms: Math.round(clock.monotonic() - startedAt) }
    },
  }
}

/** Nothing could ever be encrypted for any other. */
function isPoint(key: string): boolean {
  try {
    ECDH.convertKey(Buffer.from(key, 'base64url'), 'prime256v1')
    return true
  } catch {
    return false
  }
}

/** The token of the home is none of the table. */
const tokenOf = ({ token }: Caller) => (token?.startsWith('k_') ? token : null)
const serviceOf = ({ endpoint }: PushRow) => new URL(endpoint).host

const viewOf = (row: PushRow): PushView => ({
  id: row.id,
  user: row.user_name,
  label: row.label,
  service: serviceOf(row),
  events: row.events,
  target: pushTarget(row.id),
  createdAt: row.created_at.toISOString(),
})
