import { sql } from 'kysely'
import type { Db } from './database.ts'

/** What an agent did last: said something, used a tool, or had its work checked. */
export interface LastAction {
  readonly type: 'agent.message' | 'agent.tool_called' | 'check.started'
  readonly text: string | null
  readonly tool: string | null
  /** As JSON, cut. */
  readonly input: string | null
}

/** So far back it is looked for: a list of tasks must not read whole journals. */
const newest = 300

/** As a part of a statement about tasks; null at the beginning of a run. By the key of the journal, from its end. */
export const lastActionOf = (task: string) => sql`(
  select case when e.type = 'run.started' then null else jsonb_build_object('type', e.type, 'text', left(coalesce(e.data->>'text', e.data->>'name'), 2000), 'tool', left(e.data->>'tool', 100), 'input', left(e.data->>'input', 2000)) end
  from pawl.events e where e.task_id = ${sql.ref(task)} and e.seq > (select h.seq - ${sql.lit(newest)} from pawl.journal_heads h where h.task_id = ${sql.ref(task)})
    and e.type in ('agent.message', 'agent.tool_called', 'check.started', 'run.started')
  order by e.seq desc limit 1
)`

export async function lastAction(db: Db, task: string): Promise<LastAction | null> {
  const { rows } = await sql<{ action: LastAction | null }>`
    select ${lastActionOf('t.id')} as action from pawl.tasks t where t.id = ${task}
  `.execute(db)
  return rows[0]?.action ?? null
}
