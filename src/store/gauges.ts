import { sql } from 'kysely'
import type { Db } from './database.ts'

export interface Gauges {
  readonly parked: Readonly<Record<string, number>>
  /** When the one that has waited longest was queued. */
  readonly oldestQueuedMs: number | null
  readonly questions: number
  readonly limited: Readonly<Record<string, number>>
  readonly openRuns: Readonly<Record<string, number>>
  readonly workers: number
}

/** How things are now, for whoever watches from outside. Each is answered by an index over what is open, however long the past is. */
export async function readGauges(db: Db, now: Date): Promise<Gauges> {
  const [parked, queued, questions, limited, open, workers] = await Promise.all([
    sql<Counted>`select reason ->> 'kind' as key, count(*)::integer as count from pawl.tasks where state = 'parked' group by 1`.execute(
      db,
    ),
    // A rank is the time of queueing less an hour for each step of priority.
    sql<{
      ms: number | null
    }>`select min(rank + priority * 3600000)::float8 as ms from pawl.tasks where state = 'queued'`.execute(db),
    sql<{ count: number }>`select count(*)::integer as count from pawl.questions where state = 'pending'`.execute(db),
    sql<Counted>`select kind as key, count(*)::integer as count from pawl.cooldowns where until > ${now} group by 1`.execute(db),
    sql<Counted>`select r.agent as key, count(*)::integer as count from pawl.leases l join pawl.runs r on r.id = l.run_id group by 1`.execute(
      db,
    ),
    sql<{ count: number }>`select count(*)::integer as count from pawl.workers where ended_at is null`.execute(db),
  ])
  return {
    parked: counts(parked.rows),
    oldestQueuedMs: queued.rows[0]?.ms ?? null,
    questions: questions.rows[0]?.count ?? 0,
    limited: counts(limited.rows),
    openRuns: counts(open.rows),
    workers: workers.rows[0]?.count ?? 0,
  }
}

interface Counted {
  key: string | null
  count: number
}
const counts = (rows: readonly Counted[]) => Object.fromEntries(rows.map(({ key, count }) => [key ?? 'other', count]))
