/**
 * What each run changed in its workspace. A run itself only says whether it changed anything, and that with the statement that ends it: most change nothing, and have no row here.
 * One that ended before this was kept, or that was lost, says nothing.
 */
export default `
alter table pawl.runs add column changes text;
create table pawl.run_changes (
  run_id text primary key references pawl.runs on delete cascade,
  task_id text not null references pawl.tasks on delete cascade,
  covers text[] not null,
  why text,
  files jsonb not null,
  patches text[] not null,
  file_count integer not null,
  added integer not null,
  removed integer not null
);
create index run_changes_task on pawl.run_changes (task_id);
`
