import { sql } from 'kysely'
import type { Statements } from './at-once.ts'
import type { Taker } from './cooldowns.ts'
import type { Db } from './database.ts'

/** The tasks that this process admits. Whoever runs only its own tasks dies alone, so they are a scope of their own. */
export const inScope = (alias: 't' | 'o', { worker, shared }: Taker) => {
  const bound = sql.ref(`${alias}.bound_to`)
  return shared ? sql`(${bound} is null or ${bound} = ${worker})` : sql`${bound} = ${worker}`
}

const turnEnds = sql`r.started_at + r.alone_ms * interval '1 millisecond'`
/** A suspect's run beside which nothing may start yet. One that began in what is now the future is past that: the clock was set back. */
export const mustBeAlone = (now: Date) => sql`(r.alone_ms is not null and r.state <> 'ended' and (r.started_at is null
  or (${turnEnds} > ${now} and r.started_at <= ${now}::timestamptz + interval '1 minute')))`

export interface Turn {
  /** A suspect's run must be alone at this moment. */
  readonly isAlone: boolean
  /** A suspect's run is under way, alone so far. Whatever is admitted now ends that. */
  readonly isBesideSuspect: boolean
  readonly isBusy: boolean
  readonly hasSuspects: boolean
  /** When the last alone time ended; null if there was none, or if nobody is to be alone. */
  readonly lastTurnAt: Date | null
}

/** How things stand in a scope between suspects and all others. Where there are no suspects it reads two empty indexes. */
export async function readTurn(tx: Statements, taker: Taker, now: Date): Promise<Turn> {
  const scope = inScope('t', taker)
  const suspects = sql`exists (select 1 from pawl.tasks t where t.suspect is not null and t.state = 'queued' and ${scope})`
  const { rows } = await sql<Turn>`
    select coalesce(bool_or(${mustBeAlone(now)}), false) as "isAlone", coalesce(bool_or(r.alone and r.state <> 'ended'), false) as "isBesideSuspect",
      exists (select 1 from pawl.tasks t where t.state = 'running' and ${scope}) as "isBusy", ${suspects} as "hasSuspects",
      max(least(r.ended_at, ${turnEnds})) filter (where r.started_at is not null) as "lastTurnAt"
    from pawl.runs r join pawl.tasks t on t.id = r.task_id where r.alone_ms is not null and ${scope} and (r.state <> 'ended' or ${suspects})
  `.execute(tx)
  return rows[0]!
}

/** Something else was admitted beside the suspects that run: if their worker dies from here on, nobody knows whose fault it is. */
export async function endAlone(tx: Statements, taker: Taker): Promise<void> {
  await sql`
    update pawl.runs r set alone = false from pawl.tasks t
    where r.alone_ms is not null and r.alone and r.state <> 'ended' and t.id = r.task_id and ${inScope('t', taker)}
  `.execute(tx)
}

/** A worker that others have declared dead lives: nobody is a suspect because of it. */
export async function withdrawDeath(db: Db, worker: string): Promise<void> {
  await sql`
    with alive as (update pawl.workers set died = false where id = ${worker})
    update pawl.tasks set suspect = null where suspect is not null and suspect ->> 'worker' = ${worker}
  `.execute(db)
}
