import { sql } from 'kysely'
import type { ExactCall } from '../domain/question/question.ts'
import type { Tx } from './database.ts'
import { storableText } from './events.ts'
import type { GrantRow } from './tables.ts'

/** Stores what was decided about a call, with the answer that decided it. */
export async function insertGrant(tx: Tx, grant: Omit<GrantRow, 'used_at' | 'used_by_run'>): Promise<void> {
  await sql`
    insert into pawl.grants (question_id, task_id, session_id, tool, input_digest, verdict, said, is_once, created_at, expires_at)
    values (${grant.question_id}, ${grant.task_id}, ${grant.session_id}, ${storableText(grant.tool)}, ${grant.input_digest}, ${grant.verdict}, ${grant.said === null ? null : storableText(grant.said)}, ${grant.is_once}, ${grant.created_at}, ${grant.expires_at})
  `.execute(tx)
}

/** The last decision about this very call that still counts. One that counts once is used up by it, in the name of a run that must still have its lease. */
export async function useGrant(
  tx: Tx,
  call: ExactCall,
  by: { task: string; session: string; run: string; fence: number; at: Date },
): Promise<Pick<GrantRow, 'verdict' | 'said'> | undefined> {
  const { rows } = await sql<Pick<GrantRow, 'verdict' | 'said'>>`
    with found as materialized (
      select g.question_id from pawl.grants g
      where g.task_id = ${by.task} and g.session_id = ${by.session} and g.tool = ${storableText(call.tool)} and g.input_digest = ${call.inputDigest}
        and (not g.is_once or (g.used_at is null and (g.expires_at is null or g.expires_at > ${by.at})))
        and exists (select 1 from pawl.leases l where l.run_id = ${by.run} and l.fence = ${by.fence})
      order by g.created_at desc, g.question_id desc limit 1 for update
    )
    update pawl.grants g set used_at = ${by.at}, used_by_run = ${by.run} from found
    where g.question_id = found.question_id and (not g.is_once or g.used_at is null)
    returning g.verdict, g.said
  `.execute(tx)
  return rows[0]
}
