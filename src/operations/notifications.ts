import type { Clock } from '../base/clock.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Notification, NotificationFilter, NotificationTest, NotificationView } from '../domain/notification/notification.ts'
import type { Page } from '../domain/view/view.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Message } from '../engine/delivery/message.ts'
import type { Sender } from '../engine/delivery/sender.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db } from '../store/database.ts'
import * as outbox from '../store/outbox.ts'
import type { OutboxRow } from '../store/tables.ts'

export interface NotificationVerbs {
  /** What was or is to be sent, newest first. */
  listNotifications(filter: NotificationFilter): Promise<Page<NotificationView>>
  /** Sends what was given up once more, from its first try on: one, or all, or all of one target. Answers their ids. */
  retryNotifications(
    which: { id?: string | undefined; target?: string | undefined },
    caller: Caller,
  ): Promise<{ retried: string[] }>
  /** Sends a made-up notification now, once, and tells what came of it. */
  testNotification(target: string, caller: Caller): Promise<NotificationTest>
}

export interface NotificationVerbParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
  readonly home: string
  readonly notifications?: readonly Notification[] | undefined
  readonly sender?: Sender | undefined
}

const usualLimit = 50

export function notificationVerbs(parts: NotificationVerbParts): NotificationVerbs {
  const { db, journal, bus, clock, audit, home, notifications = [], sender } = parts
  return {
    async listNotifications({ limit = usualLimit, cursor, ...filter }) {
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const rows = await translateDbErrors(() => outbox.listOutbox(db, { ...filter, before, limit: limit + 1 }))
      const items = rows.slice(0, limit)
      return { items: items.map(viewOf), next: rows.length > limit ? String(items.at(-1)!.no) : null }
    },

    async retryNotifications({ id, target }, caller) {
      const found = id === undefined ? undefined : await translateDbErrors(() => outbox.findOutbox(db, id))
      if (id !== undefined && !found)
        throw notFound(`There is no notification ${id}; "pawl notifications ls" lists those there are.`)
      const retried = await translateDbErrors(() =>
        journal.transact('outbox.retry', async (tx) => {
          const ids = await outbox.retryOutbox(tx, { id, target }, new Date(clock.now()))
          if (ids.length > 0)
            await insertAudit(tx, audit.entry(caller, 'notification.retry', id ?? target ?? 'all', { count: ids.length }))
          return ids
        }),
      )
      if (found && retried.length === 0)
        throw conflict(`The notification ${found.id} is ${found.state}; only one that was given up or waits can be sent again.`)
      bus.tell('outbox')
      return { retried }
    },

    async testNotification(name, caller) {
      const target = notifications.find((known) => known.name === name)
      const names = notifications.map((known) => known.name)
      if (!target || !sender)
        throw notFound(
          names.length === 0
            ? 'There are no notifications in the settings; see docs/notifications.md.'
            : `There is no notification "${name}" (there are ${names.join(', ')})${didYouMean(name, names)}`,
        )
      await audit.record(caller, 'notification.test', name)
      const startedAt = clock.monotonic()
      const message = madeUp(target, home, clock.now())
      const { delivered, detail, ran } = await sender.send(target, message, AbortSignal.timeout(60_000))
      const printed = ran && ran.output !== '' ? ` It printed: ${ran.output}` : ''
      return { target: name, delivered, detail: `${detail}${printed}`, ms: Math.round(clock.monotonic() - startedAt) }
    },
  }
}

/** Looks like the real thing, and says that it is none. */
export function madeUp(target: Notification, home: string, nowMs: number): Message {
  const id = newId('task', nowMs)
  return {
    id: newId('notification', nowMs),
    type: target.events[0]!,
    timestamp: new Date(nowMs).toISOString(),
    text: `This is a test of the notification "${target.name}"; there is no such task.`,
    run: null,
    data: { test: true },
    question: null,
    task: {
      ...{ id, name: 'test', state: 'completed', agent: 'test', tags: [], workspace: home, session: newId('session', nowMs) },
      ...{ parent: null, prompt: 'This is a test.', result: null },
    },
  }
}

function viewOf(row: OutboxRow): NotificationView {
  const isWaiting = row.state === 'pending' || row.state === 'sending'
  return {
    id: row.id,
    target: row.target,
    kind: row.kind,
    event: row.event,
    task: row.task_id,
    run: row.run_id,
    state: row.state,
    attempts: row.attempts,
    nextAt: isWaiting ? row.next_at.toISOString() : null,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    sentAt: row.sent_at?.toISOString() ?? null,
  }
}

function readCursor(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor))
    throw invalid('This cursor is not one that a list has given; leave it out to begin at the newest.')
  return Number(cursor)
}
