/** Tasks that come again: when, what, and what came of each time. */
export default `
create table pawl.schedules (
  id text primary key,
  name text unique,
  state text not null check (state in ('active', 'paused', 'done')),
  timing jsonb not null,
  since timestamptz not null,
  task jsonb not null,
  session_mode text not null check (session_mode in ('new', 'keep')),
  session_id text,
  overlap text not null check (overlap in ('skip', 'queue', 'cancel')),
  catch_up text not null check (catch_up in ('none', 'one', 'all')),
  jitter_ms integer not null,
  next_due_at timestamptz,
  next_at timestamptz,
  last_due_at timestamptz,
  user_name text not null,
  standing text,
  source text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index schedules_next on pawl.schedules (next_at) where state = 'active';

create table pawl.schedule_ticks (
  schedule_id text not null references pawl.schedules on delete cascade,
  due_at timestamptz not null,
  state text not null check (state in ('waiting', 'running', 'succeeded', 'empty', 'failed', 'cancelled', 'skipped', 'missed')),
  detail text,
  is_manual boolean not null default false,
  request jsonb,
  refused_at timestamptz,
  task_id text references pawl.tasks on delete set null,
  fired_at timestamptz not null,
  ended_at timestamptz,
  primary key (schedule_id, due_at)
);
create index schedule_ticks_task on pawl.schedule_ticks (task_id) where task_id is not null;
create index schedule_ticks_waiting on pawl.schedule_ticks (schedule_id, due_at) where state = 'waiting';

create index tasks_schedule on pawl.tasks (schedule_id) where schedule_id is not null and ended_at is null;
create index tasks_rest on pawl.tasks (agent, ended_at) where ended_at is not null;
`
