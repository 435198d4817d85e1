import type pg from 'pg'

/** How long ago the oldest task was made; the newest ended the day before. */
const spreadDays = 300

/**
 * Puts tasks that have ended into a database, with a session for every three, a run or two, five events and two lines of the ledger for each, a question for every tenth and an entry of the outbox for every fifth;
 * and a few open ones, so that every screen has something to show. The same few have the tag "seldom", the agent "seldom" and the word "needle", and they are the oldest of all.
 * Foreign keys and triggers are not heeded, indexes are built afterwards, and what is written into tables emptied by the same transaction needs no log: a hundred thousand take seconds.
 */
export async function seedHistory(client: pg.ClientBase, { tasks, now }: { tasks: number; now: Date }): Promise<void> {
  await client.query('begin')
  await client.query(
    "set local session_replication_role = 'replica'; set local synchronous_commit = off; set local work_mem = '32MB'; set local maintenance_work_mem = '128MB'",
  )
  const open = ['queued', 'queued', 'queued', 'running', 'running', 'parked', 'blocked', 'review', 'created']
  await client.query(
    `create temp table made on commit drop as
      select n, n <= $1 as is_over, 't_' || lpad(n::text, 18, '0') as id, 's_' || lpad((n / 3)::text, 18, '0') as session, 'r_' || lpad(n::text, 18, '0') as run,
        case when n <= 10 then 'seldom' when n % 3 = 0 then 'reviewer' else 'helper' end as agent,
        case when n > $1 then ($3::text[])[n - $1] when n % 25 = 0 then 'failed' when n % 100 = 1 then 'timed_out' when n % 100 = 2 then 'cancelled' when n % 100 = 3 then 'over_budget' else 'completed' end as state,
        case when n <= 10 then array['seldom'] when n % 2 = 0 then array['nightly'] else '{}' end as tags,
        $2::timestamptz - interval '1 day' - ($1 - n) * (interval '1 day' * $4 / $1) as at
      from generate_series(1, $1 + cardinality($3::text[])) as n`,
    [tasks, now, open, spreadDays],
  )
  await client.query(`truncate ${tables.map((table) => `pawl.${table}`).join(', ')} cascade`)
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid = any($1::regclass[]) and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`,
    [tables.map((table) => `pawl.${table}`)],
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  for (const statement of statements) await client.query(statement)
  for (const { definition } of indexes) await client.query(definition)
  await client.query('commit')
}

const tables = ['workers', 'sessions', 'tasks', 'runs', 'leases', 'journal_heads', 'events', 'ledger', 'questions', 'outbox']

const agentConfig = `jsonb_build_object('name', agent, 'adapter', 'custom', 'profile', 'guarded', 'options', '{"command": ["true"]}'::jsonb, 'env', '{"pass": [], "set": {}}'::jsonb, 'budget', '{}'::jsonb,
  'timeoutMs', 60000, 'idleTimeoutMs', 60000, 'graceMs', 1000, 'retry', '{"attempts": 3, "baseDelayMs": 5000, "maxDelayMs": 600000}'::jsonb)`

const statements = [
  `insert into pawl.workers (id, host, boot_id, pid, start_time, started_at) values ('w_000000000000000001', 'elsewhere', 'other', 1, '1', 'epoch')`,
  `insert into pawl.sessions (id, agent, adapter, workspace, created_at, updated_at)
    select session, min(agent), 'custom', '/work/shop', min(at), max(at) from made group by session`,
  `insert into pawl.tasks (id, state, reason, resume_at, agent, agent_config, account, name, root_id, prompt, workspace, workspace_own, session_id, priority, rank, tags, extra_args, attended, fence, attempts, result,
      created_at, updated_at, ended_at)
    select id, state, case when state = 'blocked' then '{"kind": "question"}'::jsonb when state = 'failed' then jsonb_build_object('kind', case when n % 500 = 0 then 'auth_failed' else 'exit_code' end) end,
      case when state = 'parked' then at + interval '10 years' end, agent, ${agentConfig}, 'own', case when n % 10 = 0 then 'Repair ' || n end, id,
      'Look at the failing test of part ' || n || ' and repair it. ' || case when n <= 10 then 'It is a needle. ' else '' end || case when n % 5 = 0 then 'Mind the changelog. ' else '' end || (array['It was green on Monday.', 'Only the nightly build sees it.', 'The log is attached to the ticket.', 'Nobody knows since when.'])[1 + n % 4],
      '/work/shop-' || n % 7, n % 4 = 0, session, 0, n, tags, '{}', false, 1, 1,
      case when is_over then jsonb_build_object('outcome', 'succeeded', 'text', 'Done, see part ' || n, 'verified', false, 'costUsd', 0.01, 'usage', null) end,
      at, at + interval '3 minutes', case when is_over then at + interval '3 minutes' end
    from made order by n`,
  `insert into pawl.runs (id, task_id, session_id, fence, attempt, state, agent, worker_id, outcome, category, text, usage, cost_usd, admitted_at, started_at, ended_at)
    select case when k = 1 then run else 'r_a' || lpad(n::text, 17, '0') end, id, session, 2 - k, 1, case when is_over then 'ended' else 'running' end, agent, 'w_000000000000000001',
      case when is_over then case when state = 'completed' then 'succeeded' else 'failed' end end, null, 'Done.', '{"inputTokens": 100, "outputTokens": 50}'::jsonb, 0.01,
      at, at, case when is_over then at + interval '2 minutes' end
    from made cross join generate_series(1, 2) as k where (k = 1 or n % 2 = 0) and (is_over or state = 'running' and k = 1) order by n, k`,
  `insert into pawl.leases (run_id, task_id, fence, worker_id) select run, id, 1, 'w_000000000000000001' from made where state = 'running'`,
  'insert into pawl.journal_heads (task_id, seq, fence) select id, 5, case when not is_over then 1 end from made',
  `insert into pawl.events (task_id, seq, run_id, run_no, type, at, data)
    select id, k, case when k > 1 then run end, case when k > 1 then k end, (array['task.queued', 'run.started', 'agent.tool_called', 'agent.message', 'task.completed'])[k], at + k * interval '20 seconds',
      case when k = 4 then jsonb_build_object('text', 'I have looked at part ' || n) else '{"by": "local"}'::jsonb end
    from made cross join generate_series(1, 5) as k order by n, k`,
  `insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known)
    select run, k, id, id, agent, 'own', 'local', 'claude', at + k * interval '1 minute', 100, 50, 0, 0, 1, 0.01, 0.01, 'reported' from made cross join generate_series(1, 2) as k order by n, k`,
  `insert into pawl.questions (id, task_id, run_id, kind, text, options, state, answer, asked_at, answered_at)
    select 'q_' || lpad(n::text, 18, '0'), id, run, 'question', 'Which of the two?', '[]', case when is_over then 'answered' else 'pending' end, case when is_over then 'the first' end, at, case when is_over then at + interval '1 minute' end
    from made where n % 10 = 0 and is_over or state = 'blocked'`,
  `insert into pawl.outbox (id, target, kind, task_id, run_id, event, body, state, next_at, created_at, sent_at)
    select 'n_' || lpad(n::text, 18, '0'), 'ops', 'webhook', id, run, 'task.completed', '{}', case when is_over then 'sent' else 'pending' end, at, at, case when is_over then at end from made where n % 5 = 0`,
]
