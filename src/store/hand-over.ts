import { sql } from 'kysely'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { TaskSpec } from '../domain/task/spec.ts'
import type { Tx } from './database.ts'
import { jsonText } from './events.ts'

/**
 * Gives a task and its conversation to another agent: the program of that one knows nothing of it, and is told what the journal holds, if any run has begun. False, and nothing is
 * written, if another task of the session has not ended: it counts on the agent it was made for.
 */
export async function handOver(
  tx: Tx,
  task: { id: string; session_id: string },
  to: { agent: ResolvedAgent; account: string; spec: TaskSpec; at: Date },
): Promise<boolean> {
  const { rows } = await sql`
    with given as (
      update pawl.tasks t set agent = ${to.agent.name}, agent_config = ${jsonText(to.agent)}::jsonb, account = ${to.account}, spec = ${jsonText(to.spec)}::jsonb
      where t.id = ${task.id} and not exists (
        select 1 from pawl.tasks o where o.session_id = t.session_id and o.id <> t.id and o.ended_at is null
      ) returning t.session_id
    )
    update pawl.sessions s set agent = ${to.agent.name}, adapter = ${to.agent.adapter}, vendor_id = null, retell = exists (select 1 from pawl.runs r where r.session_id = s.id and r.started_at is not null), updated_at = ${to.at}
    from given where s.id = given.session_id returning s.id
  `.execute(tx)
  return rows.length === 1
}
