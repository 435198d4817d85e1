import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { AuditAction } from '../../domain/auth/audit.ts'
import { messageOf } from '../../domain/error.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Db } from '../../store/database.ts'
import { lastNoticed, type Noticed, notice } from '../../store/noticed.ts'
import type { Audit } from './audit.ts'

/** What files say about the rights of agents, as a digest by name. */
export interface SettingsInForce {
  /** Project files that are trusted, by path. */
  readonly trusted: Noticed
  /** Profiles of the settings, by name. */
  readonly profiles: Noticed
}

export interface NoticeParts {
  readonly db: Db
  readonly audit: Audit
  readonly clock: Clock
  readonly log: Log
  readonly look: () => Promise<SettingsInForce>
}

/** Files are looked at this often; a change is told of with the time at which it was seen. */
const lookEveryMs = 60_000

/**
 * Rights are also given by editing a file, and nobody asks Pawl for that. So it looks at its start and now and then, and the audit tells what has changed since
 * anybody looked last. Each change is told once, whoever sees it.
 */
export function createNotices(parts: NoticeParts): { check(): Promise<number>; start(): void; stop(): Promise<void> } {
  const { db, audit, clock, log } = parts
  let stopped = true
  let cancel: (() => void) | undefined
  let checking: Promise<unknown> = Promise.resolve()

  async function check(): Promise<number> {
    const now = await parts.look()
    return (
      (await tell('trust', now.trusted, { added: 'trust.add', changed: 'trust.add', removed: 'trust.remove' })) +
      (await tell('profile', now.profiles, { added: 'profile.change', changed: 'profile.change', removed: 'profile.change' }))
    )
  }

  const tell = (kind: string, now: Noticed, actions: Record<'added' | 'changed' | 'removed', AuditAction>): Promise<number> =>
    db.transaction().execute(async (tx) => {
      const before = await lastNoticed(tx, kind)
      const changes = differences(before, now)
      for (const { name, how, digest } of changes)
        await insertAudit(
          tx,
          audit.entry({ by: 'file' }, actions[how], name, { how, ...(digest === undefined ? {} : { digest }) }),
        )
      if (changes.length > 0) await notice(tx, kind, now, new Date(clock.now()))
      return changes.length
    })

  const again = () => {
    if (stopped) return
    checking = check()
      .catch((error: unknown) => log.warn('whether settings have changed is asked again', { error: messageOf(error) }))
      .finally(() => {
        if (!stopped) cancel = clock.after(lookEveryMs, again)
      })
  }
  return {
    check,
    start() {
      stopped = false
      again()
    },
    async stop() {
      stopped = true
      cancel?.()
      await checking
    },
  }
}

function differences(before: Noticed, now: Noticed) {
  const changed = [...now]
    .filter(([name, digest]) => before.get(name) !== digest)
    .map(([name, digest]) => ({ name, digest, how: before.has(name) ? ('changed' as const) : ('added' as const) }))
  const removed = [...before.keys()]
    .filter((name) => !now.has(name))
    .map((name) => ({ name, digest: undefined, how: 'removed' as const }))
  return [...changed, ...removed]
}
