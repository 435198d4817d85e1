/** What was spent, and on what. Refers to nothing: what is spent stays spent when its task is deleted. */
export default `
create table pawl.ledger (
  id bigint generated always as identity primary key,
  run_id text not null,
  number integer not null,
  task_id text not null,
  root_id text not null,
  agent text not null,
  account text not null,
  user_name text not null,
  model text,
  at timestamptz not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  turns integer not null,
  cost_usd numeric(20, 10),
  counted_usd numeric(20, 10) not null,
  known text not null check (known in ('reported', 'priced', 'unknown')),
  unique (run_id, number)
);
create index ledger_task on pawl.ledger (task_id);
create index ledger_at on pawl.ledger (at) include (agent, user_name, counted_usd);

insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known)
select r.id, -1, r.task_id, t.root_id, r.agent, t.account, t.user_name, t.agent_config ->> 'model', r.ended_at,
  coalesce((r.usage ->> 'inputTokens')::bigint, 0), coalesce((r.usage ->> 'outputTokens')::bigint, 0), coalesce((r.usage ->> 'cacheReadTokens')::bigint, 0),
  coalesce((r.usage ->> 'cacheWriteTokens')::bigint, 0), coalesce((r.usage ->> 'turns')::integer, 0), r.cost_usd, coalesce(r.cost_usd, 0),
  case when r.cost_usd is null then 'unknown' else 'reported' end
from pawl.runs r join pawl.tasks t on t.id = r.task_id
where r.ended_at is not null and (r.cost_usd > 0 or (r.usage ->> 'inputTokens')::bigint > 0 or (r.usage ->> 'outputTokens')::bigint > 0);
`
