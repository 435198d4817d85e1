/** Accounts that cool down. `until` alone frees nobody: the row stands until a run of the account, its `probe`, has shown that the limit is over. */
export default `
create table pawl.cooldowns (
  account text primary key,
  kind text not null check (kind in ('usage_limit', 'rate_limited', 'overloaded')),
  until timestamptz not null,
  step integer not null,
  why text not null,
  agent text not null,
  probe text,
  since timestamptz not null,
  updated_at timestamptz not null
);
create index tasks_parked_account on pawl.tasks (account, resume_at) where state = 'parked';
`
