import { sql } from 'kysely'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { AuditEntry } from '../domain/auth/audit.ts'
import { localUser } from '../domain/auth/role.ts'
import type { TaskSpec } from '../domain/task/spec.ts'
import type { Suspect } from '../domain/task/suspect.ts'
import { isEnded, type MoveName, moves, type Reason, type TaskState, type WorkspaceHow } from '../domain/task/task.ts'
import type { Statements } from './at-once.ts'
import { auditInsert } from './audit.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'
import { firstListeners } from './listeners.ts'
import { countSubtasks } from './subtasks.ts'
import type { Continuation, ListenerRow, TaskResult, TaskRow } from './tables.ts'

export interface TaskToInsert {
  readonly id: string
  readonly session: { readonly id: string; readonly isNew: boolean }
  readonly agent: ResolvedAgent
  /** Whose usage limit its runs count against. */
  readonly account?: string | undefined
  readonly name?: string | undefined
  readonly spec?: TaskSpec | undefined
  /** The task that it is a part of. */
  readonly parent?: { readonly id: string; readonly rootId: string; readonly depth: number } | undefined
  readonly schedule?: string | undefined
  /** Tasks that must be completed first. Their rows are locked by whoever calls. */
  readonly dependsOn?: readonly string[] | undefined
  /** Those of them that are not completed yet: while there is one the task is `created`, otherwise `queued`. */
  readonly waitsFor?: readonly string[] | undefined
  /** All of them are completed, and one did only a part of its work: the task is `blocked` until a person lets it start. */
  readonly heldBack?: Required<Reason> | undefined
  readonly prompt: string
  readonly workspace: string
  readonly workspaceOwn: boolean
  readonly workspaceHow?: WorkspaceHow | undefined
  readonly priority: number
  readonly rank: number
  readonly tags: readonly string[]
  readonly extraArgs: readonly string[]
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  readonly continuation?: Continuation | undefined
  readonly attended: boolean
  readonly boundTo: string | null
  readonly at: Date
  /** What whoever asks for it should know at once; told with its first event. */
  readonly warning?: string | undefined
  /** Who asks for it; the owner of the home if left out. */
  readonly user?: string | undefined
  readonly audit?: AuditEntry | undefined
  readonly idempotency?: { readonly key: string; readonly bodyHash: string } | undefined
  /** Who is told of it from its first event on. */
  readonly listeners?: readonly ListenerRow[] | undefined
}

/**
 * The task, its session, its journal with the first event, and its key: one statement, one commit.
 * Answers the row, put together here because the server would tell us nothing new; undefined if the key is already taken, then nothing
 * was written.
 */
export async function insertTask(db: Db | Tx, task: TaskToInsert): Promise<TaskRow | undefined> {
  const row = newRow(task)
  const { dependsOn = [], waitsFor = [], heldBack } = task
  const files = task.spec?.attachments ?? []
  const made = {
    ...{ agent: task.agent.name, priority: task.priority, workspace: task.workspace },
    ...(task.warning === undefined ? {} : { warning: task.warning }),
  }
  const first =
    row.state === 'queued'
      ? { type: 'task.queued', data: jsonText(made) }
      : { type: 'task.created', data: jsonText({ ...made, waitsFor }) }
  const second = heldBack && jsonText(heldBack)
  const { rows } = await sql`
    with free as (
      select 1 where ${task.idempotency?.key ?? null}::text is null or not exists (select 1 from pawl.idempotency_keys where key = ${task.idempotency?.key ?? null})
    ), session as (
      insert into pawl.sessions (id, agent, adapter, workspace, has_attachments, created_at, updated_at)
      select ${task.session.id}, ${task.agent.name}, ${task.agent.adapter}, ${task.workspace}, ${files.length > 0}, ${task.at}, ${task.at} from free where ${task.session.isNew}
    ), task as (
      insert into pawl.tasks (id, state, reason, agent, agent_config, account, name, spec, parent_id, root_id, depth, schedule_id, prompt, workspace, workspace_own, workspace_how, session_id, priority, rank, tags, extra_args, output_schema, continuation, attended, user_name, bound_to, created_at, updated_at)
      select ${task.id}, ${row.state}, ${row.reason ? jsonText(row.reason) : null}::jsonb, ${task.agent.name}, ${jsonText(task.agent)}::jsonb, ${row.account}, ${row.name === null ? null : storableText(row.name)}, ${jsonText(row.spec)}::jsonb, ${row.parent_id}, ${row.root_id}, ${row.depth}, ${row.schedule_id}, ${row.prompt}, ${task.workspace}, ${task.workspaceOwn}, ${task.workspaceHow ? jsonText(task.workspaceHow) : null}::jsonb, ${task.session.id},
        ${task.priority}, ${task.rank}, ${[...task.tags]}::text[], ${[...task.extraArgs]}::text[],
        ${task.outputSchema ? jsonText(task.outputSchema) : null}::jsonb, ${task.continuation ? jsonText(task.continuation) : null}::jsonb, ${task.attended}, ${row.user_name}, ${task.boundTo}, ${task.at}, ${task.at} from free
      returning id
    ), key as (
      insert into pawl.idempotency_keys (key, body_hash, task_id, created_at)
      select ${task.idempotency?.key ?? null}, ${task.idempotency?.bodyHash ?? ''}, id, ${task.at} from task where ${task.idempotency !== undefined}
    ), head as (
      insert into pawl.journal_heads (task_id, seq${task.listeners ? sql`, told` : sql``}) select id, ${second === undefined ? 1 : 2}::int${task.listeners ? sql`, ${task.listeners.map(({ id }) => id)}::text[]` : sql``} from task
    ), event as (
      insert into pawl.events (task_id, seq, type, at, data) select id, 1, ${first.type}::text, ${task.at}::timestamptz, ${first.data}::jsonb from task${second === undefined ? sql`` : sql` union all select id, 2, 'task.blocked', ${task.at}::timestamptz, ${second}::jsonb from task`}
    )${dependsOn.length === 0 ? sql`` : sql`, dependency as (insert into pawl.task_dependencies (task_id, depends_on_id) select id, unnest(${[...dependsOn]}::text[]) from task)`}${task.parent ? sql`, parent as (update pawl.tasks set has_subtasks = true where id = ${task.parent.id} and exists (select 1 from task))` : sql``}${files.length === 0 ? sql`` : givenFiles(task.session, files)}${task.listeners ? firstListeners(task.listeners) : sql``}${task.audit ? sql`, audit as (${auditInsert(task.audit, sql`task`)})` : sql``}
    select id from task
  `.execute(db)
  return rows.length === 1 ? row : undefined
}

/** What the task holds on to, and that its session has any. */
const givenFiles = (session: TaskToInsert['session'], files: readonly { sha256: string }[]) => sql`, attachment as (
    insert into pawl.attachments (task_id, number, sha256)
    select task.id, f.number, f.sha256 from task, unnest(${files.map(({ sha256 }) => sha256)}::text[]) with ordinality as f(sha256, number)
  )${session.isNew ? sql`` : sql`, marked as (update pawl.sessions set has_attachments = true where id = ${session.id} and exists (select 1 from task))`}`

function newRow(task: TaskToInsert): TaskRow {
  return {
    id: task.id,
    state: task.waitsFor?.length ? 'created' : task.heldBack ? 'blocked' : 'queued',
    reason: task.waitsFor?.length ? { kind: 'dependency', detail: task.waitsFor.join(', ') } : (task.heldBack ?? null),
    resume_at: null,
    agent: task.agent.name,
    agent_config: task.agent,
    account: task.account ?? '',
    name: task.name ?? null,
    spec: task.spec ?? {},
    prompt: storableText(task.prompt),
    continuation: task.continuation ?? null,
    workspace: task.workspace,
    workspace_own: task.workspaceOwn,
    workspace_how: task.workspaceHow ?? null,
    session_id: task.session.id,
    parent_id: task.parent?.id ?? null,
    root_id: task.parent?.rootId ?? task.id,
    depth: task.parent ? task.parent.depth + 1 : 0,
    has_subtasks: false,
    told_subtasks: [],
    has_dependents: false,
    schedule_id: task.schedule ?? null,
    priority: task.priority,
    rank: task.rank,
    tags: [...task.tags],
    extra_args: [...task.extraArgs],
    output_schema: task.outputSchema ?? null,
    attended: task.attended,
    user_name: task.user ?? localUser,
    bound_to: task.boundTo,
    fence: 0,
    attempts: 0,
    result: null,
    cancel: null,
    cancel_by: null,
    suspect: null,
    created_at: task.at,
    updated_at: task.at,
    ended_at: null,
  }
}

/** Whether a user has asked for any task of a session. */
export async function hasTaskOf(db: Db, session: string, user: string): Promise<boolean> {
  const found = db.selectFrom('pawl.tasks').select('id').where('session_id', '=', session).where('user_name', '=', user)
  return (await found.limit(1).executeTakeFirst()) !== undefined
}

export async function findByIdempotencyKey(
  db: Db | Tx,
  key: string,
): Promise<{ task_id: string; body_hash: string } | undefined> {
  return db.selectFrom('pawl.idempotency_keys').select(['task_id', 'body_hash']).where('key', '=', key).executeTakeFirst()
}

/** What was made with these keys, in the order of the keys. */
export async function findByIdempotencyKeys(db: Db, keys: readonly string[]): Promise<{ task_id: string; body_hash: string }[]> {
  const { rows } = await sql<{ task_id: string; body_hash: string }>`
    select task_id, body_hash from pawl.idempotency_keys where key = any(${[...keys]}::text[]) order by array_position(${[...keys]}::text[], key)
  `.execute(db)
  return rows
}

export async function findTask(db: Db | Tx, id: string): Promise<TaskRow | undefined> {
  return db.selectFrom('pawl.tasks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The task as it is now, kept so until the transaction ends: whoever decides by its state and its questions takes this first, so two of them come one after the other. */
export async function lockTask(tx: Statements, id: string): Promise<LockedTask | undefined> {
  const { rows } = await sql<Omit<LockedTask, 'open_subtasks' | 'untold_subtasks'>>`
    select t.*, exists (select 1 from pawl.cooldowns c where c.account = t.account) as is_cooling,
      exists (select 1 from pawl.ledger l where l.task_id = t.id) as has_ledger,
      exists (select 1 from pawl.reservations r where r.task_id = t.id) as has_reservation from pawl.tasks t where t.id = ${id} for update of t
  `.execute(tx)
  const task = rows[0]
  if (!task?.has_subtasks) return task && { ...task, open_subtasks: 0, untold_subtasks: 0 }
  // Counted by a statement of its own: the one that waited for the lock sees the subtasks as they were before it waited.
  return { ...task, ...(await countSubtasks(tx, task)) }
}

export interface LockedTask extends TaskRow {
  /** Its account is at a limit, as far as is known. */
  is_cooling: boolean
  /** Something was booked of its runs. */
  has_ledger: boolean
  /** A run of it holds money for calls of models. */
  has_reservation: boolean
  /** Subtasks of it that have not ended. */
  open_subtasks: number
  /** Subtasks that have ended without any run of it being told. */
  untold_subtasks: number
}

export interface MoveChanges {
  readonly reason: Reason | null
  readonly resumeAt?: Date | null
  readonly result?: TaskResult | null
  readonly continuation?: Continuation | null
  readonly rank?: number
  /** Counted runs so far, where the move changes it. */
  readonly attempts?: number
  /** Left out, the task stays what it is. One that has ended, or that a person wants again, is no suspect whatever this says. */
  readonly suspect?: Suspect | null
}

/** Where a task is after a move, and who else may be concerned, told by the same statement: most tasks concern nobody. */
export interface Moved {
  readonly id: string
  readonly state: TaskState
  readonly parent_id: string | null
  /** The schedule whose tick made it. */
  readonly schedule_id: string | null
  /** Others may wait for it. */
  readonly has_dependents: boolean
  /** Of a task that has ended: a question of it is still open. */
  readonly is_asking: boolean
}

/**
 * How a task that exists changes its state, but for admission, which moves many at once. Applies the move if the task is in one of the states the table allows and, for a fenced move, if `fence` is
 * still the task's; answers where the task is afterwards, or undefined if somebody else was first.
 */
export async function moveTask(
  tx: Statements,
  id: string,
  name: MoveName,
  options: MoveChanges & { at: Date; fence?: number },
): Promise<Moved | undefined> {
  const move = moves[name]
  if (move.fenced !== (options.fence !== undefined))
    throw new Error(`the move ${name} ${move.fenced ? 'needs' : 'takes no'} fence`)
  const isEnd = isEnded(move.to)
  const { rows } = await sql<Moved>`
    update pawl.tasks set
      state = ${move.to},
      reason = ${options.reason === null ? null : jsonText(options.reason)}::jsonb,
      resume_at = ${options.resumeAt ?? null},
      result = ${options.result === undefined ? sql`result` : sql`${options.result === null ? null : jsonText(options.result)}::jsonb`},
      continuation = ${options.continuation === undefined ? sql`continuation` : sql`${options.continuation === null ? null : jsonText(options.continuation)}::jsonb`},
      rank = ${options.rank === undefined ? sql`rank` : sql`${options.rank}`},
      attempts = ${options.attempts === undefined ? sql`attempts` : sql`${options.attempts}`},
      suspect = ${isEnd || name === 'retry' ? null : options.suspect === undefined ? sql`suspect` : sql`${options.suspect === null ? null : jsonText(options.suspect)}::jsonb`},
      cancel = ${move.to === 'queued' ? null : sql`cancel`},
      cancel_by = ${move.to === 'queued' ? null : sql`cancel_by`},
      ended_at = ${isEnd ? options.at : null},
      updated_at = ${options.at}
    where id = ${id} and state = any(${[...move.from]}::text[]) and ${options.fence === undefined ? sql`true` : sql`fence = ${options.fence}`}
    returning id, state, parent_id, schedule_id, has_dependents,
      ${isEnd ? sql`exists (select 1 from pawl.questions where task_id = ${id} and state = 'pending')` : sql`false`} as is_asking
  `.execute(tx)
  return rows[0]
}

/** Marks a running task as asked to stop; `now` outranks an earlier request with grace. */
export async function requestCancel(tx: Tx, id: string, options: { now: boolean; by: string; at: Date }): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    update pawl.tasks set cancel = ${options.now ? 'now' : 'grace'}, cancel_by = coalesce(cancel_by, ${options.by}), updated_at = ${options.at}
    where id = ${id} and state = 'running' and (cancel is null or (cancel = 'grace' and ${options.now}))
    returning id
  `.execute(tx)
  return rows.length === 1
}

/** Keeps a task and its subtasks for one process, unless it runs or another living process keeps it. */
export async function bindTask(db: Db, id: string, worker: string): Promise<void> {
  await sql`
    update pawl.tasks t set bound_to = ${worker}
    where (t.id = ${id} or (t.root_id = ${id} and t.root_id <> t.id)) and t.state <> 'running' and not exists (select 1 from pawl.workers w where w.id = t.bound_to and w.ended_at is null)
  `.execute(db)
}

/** Says anew why a task is where it is, while it stays there. */
export async function setReason(tx: Tx, id: string, reason: Reason, at: Date): Promise<void> {
  await sql`update pawl.tasks set reason = ${jsonText(reason)}::jsonb, updated_at = ${at} where id = ${id}`.execute(tx)
}

/** Whether checks have shown that its work is done, said anew while it stays where it is. */
export async function setVerified(tx: Tx, id: string, verified: boolean, at: Date): Promise<void> {
  await sql`
    update pawl.tasks set result = jsonb_set(result, '{verified}', to_jsonb(${verified}::boolean)), updated_at = ${at} where id = ${id} and result is not null
  `.execute(tx)
}

/** Tasks that a process which has ended kept for itself become everybody's. */
export async function unbindTasks(db: Db | Tx, worker: string): Promise<void> {
  await sql`update pawl.tasks set bound_to = null where bound_to = ${worker}`.execute(db)
}

/** How many tasks are queued, counted no further than `most`. */
export async function countQueued(db: Db | Tx, most: number): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from (select 1 from pawl.tasks where state = 'queued' limit ${most}) as queued`.execute(db)
  return rows[0]?.count ?? 0
}

/** The folders of people in which the last 500 tasks have worked, the last one first. */
export async function recentWorkspaces(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ workspace: string }>`
    select workspace from (select workspace, workspace_own, created_at from pawl.tasks order by created_at desc, id desc limit 500) lately
    where not workspace_own group by workspace order by max(created_at) desc limit ${limit}
  `.execute(db)
  return rows.map(({ workspace }) => workspace)
}
