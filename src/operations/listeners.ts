import type { Clock } from '../base/clock.ts'
import { localUser } from '../domain/auth/role.ts'
import { conflict, notFound } from '../domain/error.ts'
import { type ListenerView, mostListeners, type NewListener } from '../domain/notification/listener.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { ensureListenerKey, findListenerKey } from '../engine/delivery/listeners/key.ts'
import { makeListener, viewOf } from '../engine/delivery/listeners/make.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db } from '../store/database.ts'
import * as store from '../store/listeners.ts'
import { findTask } from '../store/tasks.ts'

/** Addresses that are told what becomes of one task. Each caller has their own and sees no others. */
export interface ListenerVerbs {
  /** Durable when it resolves: whatever is stored of the task from then on is told. */
  setListener(task: string, listener: NewListener, caller: Caller): Promise<ListenerView>
  getListener(task: string, name: string, caller: Caller): Promise<ListenerView>
  /** Oldest first. `cursor` is the `next` of an earlier page. */
  listListeners(
    task: string,
    page: { limit?: number | undefined; cursor?: string | undefined },
    caller: Caller,
  ): Promise<{ items: ListenerView[]; next: string | null }>
  /** What was not told yet is not told any more. Removing one that is not there is fine. */
  removeListener(task: string, name: string, caller: Caller): Promise<void>
}

export interface ListenerVerbParts {
  readonly db: Db
  readonly journal: Journal
  readonly clock: Clock
  readonly audit: Audit
  readonly home: string
  /** May they be on this machine or in a private network, and without TLS? */
  readonly allowsPrivateListeners?: boolean | undefined
}

export function listenerVerbs(parts: ListenerVerbParts): ListenerVerbs {
  const { db, journal, clock, audit, home } = parts
  const userOf = ({ user = localUser }: Caller) => user
  const existing = async (task: string) => {
    if (!(await translateDbErrors(() => findTask(db, task))))
      throw notFound(`There is no task ${task}; "pawl ls" lists those there are.`)
  }
  return {
    async setListener(task, listener, caller) {
      await existing(task)
      const key = await ensureListenerKey(home)
      const allowPrivate = parts.allowsPrivateListeners ?? false
      const row = await makeListener(listener, { key, caller, task, nowMs: clock.now(), allowPrivate })
      const kept = await translateDbErrors(() =>
        journal.transact('listener.set', async (tx) => {
          const put = await store.putListener(tx, row)
          if (put) await insertAudit(tx, audit.entry(caller, 'listener.set', task, { host: new URL(row.url).host }))
          return put
        }),
      )
      if (!kept) throw conflict(`Task ${task} has ${mostListeners} addresses that are told of it; remove one first.`)
      return viewOf(kept, key)
    },

    async getListener(task, name, caller) {
      await existing(task)
      const row = await translateDbErrors(() => store.findListener(db, task, userOf(caller), name))
      const key = row && (await findListenerKey(home))
      if (!row || !key) throw notFound(`Task ${task} has no address "${name}" of yours that is told of it.`)
      return viewOf(row, key)
    },

    async listListeners(task, { limit = mostListeners, cursor }, caller) {
      await existing(task)
      const rows = await translateDbErrors(() =>
        store.listenersOf(db, { task, user: userOf(caller), after: cursor, limit: limit + 1 }),
      )
      const key = rows.length > 0 ? await findListenerKey(home) : undefined
      const items = rows.slice(0, limit)
      return { items: key ? items.map((row) => viewOf(row, key)) : [], next: rows.length > limit ? items.at(-1)!.id : null }
    },

    async removeListener(task, name, caller) {
      await existing(task)
      await translateDbErrors(() =>
        journal.transact('listener.remove', async (tx) => {
          if (await store.removeListener(tx, task, userOf(caller), name))
            await insertAudit(tx, audit.entry(caller, 'listener.remove', task))
        }),
      )
    },
  }
}
