/** Lists, searches and counts whose cost does not grow with the tasks that have ended. */
export default `
-- Every order of lists by itself (0001, 0021), of one state and of one agent. Where it can be, an index holds ended tasks only: those that have not ended are few, and while a task moves from state to
-- state each of its indexes is written again.
create index tasks_state_updated on pawl.tasks (state, updated_at desc, id desc) where state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget');
create index tasks_state_ended on pawl.tasks (state, ended_at desc, id desc) where state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget');
create index tasks_agent_created on pawl.tasks (agent, created_at, id);
create index tasks_agent_updated on pawl.tasks (agent, updated_at, id);
create index tasks_agent_ended on pawl.tasks (agent, ended_at, id) where ended_at is not null;
drop index pawl.tasks_rest;
create index tasks_session_created on pawl.tasks (session_id, created_at, id);
drop index pawl.tasks_session;

-- Tags, words in prompts and names, and ends of ids. The index of a prompt ends after 20,000 characters: a prompt of megabytes would take seconds to index. The few longer ones are read.
create index tasks_tags on pawl.tasks using gin (tags) where tags <> '{}' and state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget');
create index tasks_id_end on pawl.tasks (reverse(id) collate "C") where state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget');
create index tasks_long on pawl.tasks (id) where octet_length(prompt) > 20000 and state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget');
do $$
declare
  place text;
begin
  create extension if not exists pg_trgm with schema pawl;
  select n.nspname into place from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  -- Every search reads the pending list whole, so it is kept short.
  execute format('create index tasks_words on pawl.tasks using gin (lower(left(prompt, 20000)) %1$I.gin_trgm_ops, lower(name) %1$I.gin_trgm_ops) with (gin_pending_list_limit = 256)
    where state in (''completed'', ''failed'', ''timed_out'', ''cancelled'', ''over_budget'')', place);
exception when insufficient_privilege or undefined_file or feature_not_supported then
  -- A server of the user's own may lack the extension. Searches find the same without the index, by reading every task.
  raise notice 'pg_trgm is not available: %', sqlerrm;
end
$$;

create index sessions_agent on pawl.sessions (agent, id);
create index questions_asked on pawl.questions (asked_at);
create index questions_over on pawl.questions ((coalesce(answered_at, deadline, asked_at)));
create index recordings_newest on pawl.recordings (begun_at desc, run_id desc);

-- How many tasks have ended and how, by agent and tag; the tag '' stands for every task. What counts is the sum of n. Rows are only added, because tasks that end at the
-- same time would wait for each other at a row that is changed; now and then the rows of one count are replaced by their sum. Open tasks are not in here: they are few, and counted.
create table pawl.task_counts (
  tag text not null,
  agent text not null,
  state text not null,
  -- Why it failed, where lists ask for it: 'auth_failed' or ''.
  kind text not null,
  n bigint not null
);
create index task_counts_of on pawl.task_counts (tag, agent, state, kind);

create function pawl.count_task(of_agent text, in_state text, reason jsonb, tags text[], step integer) returns void language plpgsql as $$
declare
  label text;
  why text := case when in_state = 'failed' and reason ->> 'kind' = 'auth_failed' then 'auth_failed' else '' end;
begin
  for label in select '' union select unnest(tags) loop
    insert into pawl.task_counts (tag, agent, state, kind, n) values (label, of_agent, in_state, why, step);
    -- By chance and not by turns: a turn could always fall on the same tag. Rows that somebody else replaces at this moment are left to them.
    if random() < 0.02 then
      with parts as materialized (
        select c.ctid as place from pawl.task_counts c
        where c.tag = label and c.agent = of_agent and c.state = in_state and c.kind = why for update skip locked
      ), gone as (
        delete from pawl.task_counts c where c.ctid = any(array(select place from parts)) returning c.n
      )
      insert into pawl.task_counts (tag, agent, state, kind, n)
      select label, of_agent, in_state, why, sum(g.n) from gone g having sum(g.n) <> 0;
    end if;
  end loop;
end
$$;

create function pawl.count_ended() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget') then
    perform pawl.count_task(old.agent, old.state, old.reason, old.tags, -1);
  end if;
  if tg_op <> 'DELETE' and new.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget') then
    perform pawl.count_task(new.agent, new.state, new.reason, new.tags, 1);
  end if;
  return null;
end
$$;
create trigger tasks_counted_new after insert on pawl.tasks for each row when (new.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget')) execute function pawl.count_ended();
create trigger tasks_counted after update of state, reason, agent, tags on pawl.tasks for each row
  when ((old.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget') or new.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget')) and (old.state, old.reason, old.agent, old.tags) is distinct from (new.state, new.reason, new.agent, new.tags))
  execute function pawl.count_ended();
create trigger tasks_counted_gone after delete on pawl.tasks for each row when (old.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget')) execute function pawl.count_ended();

insert into pawl.task_counts (tag, agent, state, kind, n)
select l.label, t.agent, t.state, case when t.state = 'failed' and t.reason ->> 'kind' = 'auth_failed' then 'auth_failed' else '' end, count(*)
from pawl.tasks t cross join lateral (select '' union select unnest(t.tags)) as l (label)
where t.state in ('completed', 'failed', 'timed_out', 'cancelled', 'over_budget') group by 1, 2, 3, 4;
`
