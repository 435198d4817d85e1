/** What others are to be told. */
export default `
-- A row is written with the event it tells of and stays until it has been told; \`no\` is the order in which one target hears of one task.
-- Nothing is told of a task that was deleted.
create table pawl.outbox (
  id text primary key,
  no bigint generated always as identity,
  target text not null,
  kind text not null,
  task_id text not null references pawl.tasks on delete cascade,
  run_id text references pawl.runs on delete set null,
  event text not null,
  body jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'sending', 'sent', 'dead')),
  attempts integer not null default 0,
  next_at timestamptz not null,
  -- The worker that is sending it. If that has died, nobody knows whether it was sent, and it is sent again.
  claimed_by text,
  last_error text,
  created_at timestamptz not null,
  sent_at timestamptz
);
create index outbox_line on pawl.outbox (target, task_id, no) where state in ('pending', 'sending');
create index outbox_due on pawl.outbox (target, next_at) where state = 'pending';
create index outbox_claimed on pawl.outbox (claimed_by) where state = 'sending';
create index outbox_open on pawl.outbox (state) where state <> 'sent';
create index outbox_sent on pawl.outbox (sent_at) where state = 'sent';
create index outbox_task on pawl.outbox (task_id, target);
create index outbox_run on pawl.outbox (run_id) where run_id is not null;
create unique index outbox_newest on pawl.outbox (no desc);
`
