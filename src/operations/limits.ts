import { conflict, notFound } from '../domain/error.ts'
import type { LimitView } from '../domain/view/limit.ts'
import type { TaskView } from '../domain/view/view.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { wake } from '../engine/tasks/limits/wake.ts'
import { insertAudit } from '../store/audit.ts'
import * as cooldowns from '../store/cooldowns.ts'
import type { Db } from '../store/database.ts'
import { lockTask } from '../store/tasks.ts'

/** Limits of the model providers, and the tasks that wait for them. */
export interface LimitVerbs {
  /** The accounts that are at a limit, the one that ends first at the top. */
  listLimits(): Promise<LimitView[]>
  /** Forgets that the accounts of an agent are at their limit; their tasks go on one after another. Answers what was forgotten. */
  clearLimits(agent: string, caller: Caller): Promise<LimitView[]>
  /** Lets a parked task go on now. If its account is at a limit, it is the one that shows whether that is over. */
  resumeTask(id: string, caller: Caller): Promise<TaskView>
}

export interface LimitParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly audit: Audit
  readonly clock: { now(): number }
}

export function limitVerbs(parts: LimitParts, getTask: (id: string) => Promise<TaskView>): LimitVerbs {
  const { db, journal, bus, audit, clock } = parts
  const now = () => new Date(clock.now())
  return {
    listLimits: async () => (await translateDbErrors(() => cooldowns.listCooldowns(db))).map(limitView),

    async clearLimits(agent, caller) {
      const cleared = await translateDbErrors(() =>
        journal.transact('limits.clear', async (tx) => {
          const found = (await cooldowns.listCooldowns(tx)).filter(({ agents }) => agents.includes(agent))
          if (found.length === 0) return []
          const accounts = found.map(({ account }) => account)
          await cooldowns.removeCooldowns(tx, accounts, now())
          await insertAudit(tx, audit.entry(caller, 'limits.clear', agent, { accounts }))
          return found
        }),
      )
      if (cleared.length === 0)
        throw notFound(`No account of an agent "${agent}" is known to be at a limit; "pawl limits ls" lists those that are.`)
      bus.tell('admission')
      return cleared.map(limitView)
    },

    async resumeTask(id, caller) {
      const before = await getTask(id)
      await translateDbErrors(() =>
        journal.transact('task.wake_now', async (tx, record) => {
          const task = await lockTask(tx, id)
          const moved = await wake({ tx, record, at: now() }, id, { detail: `asked for by ${caller.by}` })
          if (!task || !moved)
            throw conflict(
              `Task ${id} is ${before.state}; only one that is parked can be resumed. "pawl retry" queues one again that has ended.`,
            )
          if (task.is_cooling) await cooldowns.checkNow(tx, task.account, now())
          await insertAudit(tx, audit.entry(caller, 'task.wake', id))
        }),
      )
      bus.tell('admission')
      return getTask(id)
    },
  }
}

const limitView = (row: cooldowns.Cooldown): LimitView => ({
  account: row.account,
  agents: row.agents,
  kind: row.kind,
  until: row.until.toISOString(),
  checking: row.is_checking,
  why: row.why,
  times: row.step,
  since: row.since.toISOString(),
  waiting: row.waiting,
})
