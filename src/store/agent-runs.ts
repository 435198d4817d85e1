import { sql } from 'kysely'
import type { Category, Outcome } from '../domain/run/outcome.ts'
import type { Db } from './database.ts'

export interface EndedRun {
  readonly agent: string
  readonly outcome: Outcome
  readonly category: Category | null
  readonly message: string | null
  readonly task_id: string
  readonly ended_at: Date
}

/** The last runs of each agent that ran since then, newest first. The agents are found by jumping through the index from one to the next. */
export async function lastRuns(db: Db, options: { since: Date; each: number }): Promise<EndedRun[]> {
  const { rows } = await sql<EndedRun>`
    with recursive agents as (
      (select agent from pawl.runs where ended_at is not null order by agent limit 1)
      union all
      select (select r.agent from pawl.runs r where r.ended_at is not null and r.agent > agents.agent order by r.agent limit 1) from agents where agents.agent is not null
    )
    select runs.* from agents cross join lateral (
      select r.agent, r.outcome, r.category, left(r.message, 500) as message, r.task_id, r.ended_at from pawl.runs r
      where r.agent = agents.agent and r.ended_at >= ${options.since} order by r.ended_at desc, r.id limit ${options.each}
    ) runs where agents.agent is not null order by runs.agent, runs.ended_at desc
  `.execute(db)
  return rows
}

/** So far back it is looked for an open call: nobody reads whole journals to find trouble. */
const newest = 300

/** Tasks that run and of which the journal has heard nothing since `quiet`; since `open`, if a tool or a check runs. */
export async function silentTasks(
  db: Db,
  { quiet, open }: { quiet: Date; open: Date },
): Promise<{ id: string; name: string | null; agent: string; silent_since: Date }[]> {
  const { rows } = await sql<{ id: string; name: string | null; agent: string; silent_since: Date }>`
    select t.id, coalesce(t.name, left(t.prompt, 80)) as name, t.agent, last.at as silent_since from pawl.tasks t
    cross join lateral (select e.at, e.seq from pawl.events e where e.task_id = t.id order by e.seq desc limit 1) last
    left join lateral (
      select e.type from pawl.events e where e.task_id = t.id and e.seq > last.seq - ${newest}
        and e.type in ('agent.tool_called', 'agent.tool_returned', 'check.started', 'check.ended', 'run.started') order by e.seq desc limit 1
    ) call on last.at < ${quiet}
    where t.state = 'running'
      and last.at < case when call.type in ('agent.tool_called', 'check.started') then ${open}::timestamptz else ${quiet}::timestamptz end
    order by last.at limit 50
  `.execute(db)
  return rows
}
