import { sql } from 'kysely'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { TraceContext } from '../domain/base/trace-context.ts'
import type { Usage } from '../domain/money/usage.ts'
import type { TaskState } from '../domain/task/task.ts'
import type { Db } from './database.ts'

/** What is told of a task that has ended. */
export interface TaskTold {
  readonly task: string
  readonly root: string
  readonly parent: string | null
  readonly session: string
  readonly agent: string
  readonly config: ResolvedAgent
  /** The span of whoever asked for it, or for the topmost task above it. */
  readonly trace: TraceContext | null
  readonly state: TaskState
  readonly runs: number
  readonly createdAt: Date
  readonly endedAt: Date | null
}

/** What is told of a run that is over, whoever ended it. */
export interface RunTold extends Omit<TaskTold, 'createdAt' | 'state' | 'runs'> {
  readonly run: string
  readonly attempt: number
  readonly outcome: string | null
  readonly category: string | null
  readonly usage: Usage | null
  readonly costUsd: number | null
  readonly startedAt: Date | null
  /** Of the last thing that its agent said. */
  readonly lastSaidAt: Date | null
  /** The model that answered last. */
  readonly answeredBy: string | null
  readonly tools: readonly ToolTold[]
}

/** A call of a tool, without what went in and what came out. */
export interface ToolTold {
  readonly call: string
  readonly tool: string
  readonly within: string | null
  readonly calledAt: Date
  readonly returnedAt: Date | null
  readonly isError: boolean
}

export async function readTaskTold(db: Db, task: string): Promise<TaskTold | undefined> {
  const { rows } = await sql<TaskTold>`
    select id as task, root_id as root, parent_id as parent, session_id as session, agent, agent_config as config, spec -> 'trace' as trace, state,
      fence::integer as runs, created_at as "createdAt", ended_at as "endedAt"
    from pawl.tasks where id = ${task}`.execute(db)
  return rows[0]
}

export async function readRunTold(db: Db, run: string): Promise<RunTold | undefined> {
  const [found, said] = await Promise.all([
    sql<Omit<RunTold, 'lastSaidAt' | 'answeredBy' | 'tools'>>`
      select r.id as run, t.id as task, t.root_id as root, t.parent_id as parent, r.session_id as session, r.agent, t.agent_config as config,
        t.spec -> 'trace' as trace, r.attempt, r.outcome, r.category, r.usage, r.cost_usd as "costUsd", r.started_at as "startedAt", r.ended_at as "endedAt"
      from pawl.runs r join pawl.tasks t on t.id = r.task_id where r.id = ${run}`.execute(db),
    sql<Said>`
      select type, at, data ->> 'callId' as call, data ->> 'tool' as tool, data ->> 'parent' as within, data ->> 'isError' as error, data ->> 'model' as model
      from pawl.events where run_id = ${run} and run_no is not null and type like 'agent.%' order by run_no`.execute(db),
  ])
  const [row] = found.rows
  return (
    row && {
      ...row,
      lastSaidAt: said.rows.at(-1)?.at ?? null,
      answeredBy: said.rows.findLast(({ model }) => model !== null)?.model ?? null,
      tools: paired(said.rows),
    }
  )
}

interface Said {
  readonly type: string
  readonly at: Date
  readonly call: string | null
  readonly tool: string | null
  readonly within: string | null
  readonly error: string | null
  readonly model: string | null
}

/** A program may use the id of a call again when that call has returned. */
function paired(said: readonly Said[]): ToolTold[] {
  const tools: ToolTold[] = []
  const open = new Map<string, number>()
  for (const { type, at, call, tool, within, error } of said) {
    if (call === null) continue
    if (type === 'agent.tool_called' && tool !== null) {
      open.set(call, tools.length)
      tools.push({ call, tool, within, calledAt: at, returnedAt: null, isError: false })
    }
    const n = type === 'agent.tool_returned' ? open.get(call) : undefined
    if (n === undefined) continue
    tools[n] = { ...tools[n]!, returnedAt: at, isError: error === 'true' }
    open.delete(call)
  }
  return tools
}
