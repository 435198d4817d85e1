import { unavailable } from '../domain/error.ts'
import type { HaltView } from '../domain/view/view.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Bus } from '../engine/journal/bus.ts'
import { lockAdmission } from '../store/admission.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db } from '../store/database.ts'
import { deleteHalt, findHalt, type Halt, insertHalt, runningTasks } from '../store/halt.ts'

/** The switch that ends everything. */
export interface HaltVerbs {
  /** Ends every run of every worker without grace and keeps the queue from starting any more, also over restarts, until `resume`. Doing it twice is fine. */
  stopAll(options: Caller & { reason?: string | undefined }): Promise<{ halt: HaltView; stopping: string[] }>
  /** Lets the queue go on. False if nothing was stopped. What was ended stays ended; it can be retried. */
  resume(caller: Caller): Promise<{ resumed: boolean }>
}

export interface HaltParts {
  readonly db: Db
  readonly bus: Bus
  readonly audit: Audit
  readonly clock: { now(): number }
}

export function haltVerbs(
  { db, bus, audit, clock }: HaltParts,
  cancel: (id: string, options: Caller & { now: boolean }) => Promise<unknown>,
): HaltVerbs {
  return {
    async stopAll({ reason, ...caller }) {
      const halt = await translateDbErrors(() =>
        db.transaction().execute(async (tx) => {
          // Whoever admits now comes to an end first, and whoever comes later sees that there is nothing to admit.
          await lockAdmission(tx)
          await insertHalt(tx, { at: new Date(clock.now()), by: caller.user ?? caller.by, reason: reason ?? null })
          await insertAudit(tx, audit.entry(caller, 'agents.stop_all', 'all', reason === undefined ? {} : { reason }))
          return findHalt(tx)
        }),
      )
      const stopping = await translateDbErrors(() => runningTasks(db))
      const done = await Promise.allSettled(stopping.map((id) => cancel(id, { ...caller, now: true })))
      // After the others: a program that was about to wait for a next turn does so by now, or never will.
      bus.tell('halt')
      const failed = done.filter((one) => one.status === 'rejected')
      if (failed.length > 0)
        throw unavailable(
          `Nothing more is started, but ${failed.length} of ${stopping.length} running tasks could not be told to stop; run "pawl stop --all-agents" again.`,
          failed[0]?.reason,
        )
      return { halt: haltView(halt!), stopping }
    },
    async resume(caller) {
      const resumed = await translateDbErrors(() =>
        db.transaction().execute(async (tx) => {
          if (!(await deleteHalt(tx))) return false
          await insertAudit(tx, audit.entry(caller, 'agents.resume', 'all'))
          return true
        }),
      )
      if (resumed) bus.tell('admission')
      return { resumed }
    },
  }
}

export const haltView = ({ at, halted_by: by, reason }: Halt): HaltView => ({ at: at.toISOString(), by, reason })
