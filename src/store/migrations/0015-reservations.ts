/**
 * What runs may spend at a provider before it is in the ledger. `usd` counts against caps like what is spent; of it `open_usd` is for calls that are under way or not booked yet,
 * and is what a crash may have cost. Refers to nothing, like the ledger that it becomes a part of.
 */
export default `
create table pawl.reservations (
  run_id text primary key,
  task_id text not null,
  root_id text not null,
  agent text not null,
  account text not null,
  user_name text not null,
  model text,
  provider text,
  fence integer not null,
  usd numeric(20, 10) not null,
  open_usd numeric(20, 10) not null check (open_usd >= 0 and open_usd <= usd),
  at timestamptz not null
);
create index reservations_task on pawl.reservations (task_id);

alter table pawl.ledger add column provider text;
`
