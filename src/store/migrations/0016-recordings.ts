/** What is known of the recordings of runs; the recordings themselves are files of the machine that made them. */
export default `
create table pawl.recordings (
  run_id text primary key references pawl.runs on delete cascade,
  is_over boolean not null default false,
  calls integer not null default 0,
  bytes bigint not null default 0,
  has_workspace boolean not null default false,
  stopped text,
  begun_at timestamptz not null,
  ended_at timestamptz
);
`
