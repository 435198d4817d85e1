/** What proved that work is done: each check that was run, in a chain of hashes per task. */
export default `
create table pawl.checks (
  task_id text not null references pawl.tasks on delete cascade,
  number integer not null,
  round integer not null,
  run_id text references pawl.runs on delete cascade,
  name text not null,
  command text not null,
  exit_code integer,
  why text,
  output_digest text not null,
  tree_before text,
  tree text,
  folder text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  previous text not null,
  hash text not null,
  primary key (task_id, number)
);
`
