/** What a task says about itself, its place in a tree, and what it depends on. */
export default `
alter table pawl.tasks add column name text;
alter table pawl.tasks add column spec jsonb not null default '{}';
alter table pawl.tasks add column account text not null default '';
alter table pawl.tasks add column root_id text;
alter table pawl.tasks add column depth integer not null default 0;
alter table pawl.tasks add column schedule_id text;
update pawl.tasks set root_id = id;
alter table pawl.tasks alter column root_id set not null;
-- Set by whoever comes to wait for the task, so that its end finds them whatever else it saw before: no lock has to be waited for to know.
alter table pawl.tasks add column has_dependents boolean not null default false;
create index tasks_parent on pawl.tasks (parent_id) where parent_id is not null;
create index tasks_root on pawl.tasks (root_id) where root_id <> id;

create table pawl.task_dependencies (
  task_id text not null references pawl.tasks on delete cascade,
  depends_on_id text not null references pawl.tasks on delete cascade,
  primary key (task_id, depends_on_id)
);
create index task_dependencies_of on pawl.task_dependencies (depends_on_id);

alter table pawl.runs add column fingerprint text;

-- Runs of deleted tasks whose files are still on disk.
create table pawl.removed_runs (run_id text primary key);
`
