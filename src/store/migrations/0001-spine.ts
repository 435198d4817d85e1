/** Tasks, runs, sessions, questions, leases and the journal. */
export default `
create table pawl.sessions (
  id text primary key,
  agent text not null,
  adapter text not null,
  workspace text not null,
  vendor_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table pawl.tasks (
  id text primary key,
  state text not null,
  reason jsonb,
  resume_at timestamptz,
  agent text not null,
  agent_config jsonb not null,
  prompt text not null,
  continuation jsonb,
  workspace text not null,
  workspace_own boolean not null,
  session_id text not null references pawl.sessions,
  parent_id text references pawl.tasks,
  priority integer not null,
  rank bigint not null,
  tags text[] not null,
  extra_args text[] not null,
  attended boolean not null,
  bound_to text,
  fence integer not null default 0,
  attempts integer not null default 0,
  result jsonb,
  cancel text,
  cancel_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz
);
create index tasks_lane on pawl.tasks (agent, rank, id) where state = 'queued';
create index tasks_queued_workspace on pawl.tasks (workspace, rank, id) where state = 'queued';
create index tasks_queued_session on pawl.tasks (session_id, rank, id) where state = 'queued';
create index tasks_running on pawl.tasks (agent) where state = 'running';
create index tasks_parked on pawl.tasks (resume_at) where state = 'parked';
create index tasks_bound on pawl.tasks (bound_to) where bound_to is not null;
create index tasks_newest on pawl.tasks (created_at desc, id desc);
create index tasks_state on pawl.tasks (state, created_at desc, id desc);

create table pawl.idempotency_keys (
  key text primary key,
  body_hash text not null,
  task_id text not null references pawl.tasks,
  created_at timestamptz not null
);

create table pawl.workers (
  id text primary key,
  host text not null,
  boot_id text not null,
  pid integer not null,
  start_time text not null,
  beat bigint not null default 0,
  started_at timestamptz not null,
  ended_at timestamptz
);
create index workers_living on pawl.workers (id) where ended_at is null;

create table pawl.runs (
  id text primary key,
  task_id text not null references pawl.tasks,
  session_id text not null references pawl.sessions,
  fence integer not null,
  attempt integer not null,
  state text not null,
  agent text not null,
  admitted_by text references pawl.workers,
  worker_id text references pawl.workers,
  kill_unit jsonb,
  walls text,
  enforced boolean,
  resumed boolean not null default false,
  outcome text,
  category text,
  message text,
  text text,
  exit_code integer,
  signal text,
  usage jsonb,
  cost_usd numeric(14, 6),
  admitted_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  unique (task_id, fence)
);
create index runs_admitted on pawl.runs (admitted_by) where state = 'admitted';

create table pawl.leases (
  run_id text primary key references pawl.runs,
  task_id text not null unique references pawl.tasks,
  fence integer not null,
  worker_id text not null references pawl.workers
);
create index leases_worker on pawl.leases (worker_id);

create table pawl.questions (
  id text primary key,
  task_id text not null references pawl.tasks,
  run_id text not null references pawl.runs,
  kind text not null,
  text text not null,
  options jsonb not null,
  state text not null,
  answer text,
  answered_by text,
  heard boolean not null default false,
  asked_at timestamptz not null,
  answered_at timestamptz
);
create index questions_task on pawl.questions (task_id, asked_at);
create index questions_pending on pawl.questions (asked_at) where state = 'pending';

-- The journal's own counter row: the last number given, and the fence of the run that may write now.
create table pawl.journal_heads (
  task_id text primary key references pawl.tasks,
  seq bigint not null,
  fence integer
);

create table pawl.events (
  task_id text not null,
  seq bigint not null,
  id bigint generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  run_id text,
  run_no integer,
  type text not null,
  at timestamptz not null,
  data jsonb not null,
  primary key (task_id, seq)
);
create unique index events_run_no on pawl.events (run_id, run_no) where run_no is not null;
`
