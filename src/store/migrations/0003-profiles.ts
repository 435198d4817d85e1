/** What each run was allowed. */
export default `
-- By what it says, not by name: thousands of runs share a few. Never changed and never deleted, so that what was in force can be told for ever.
create table pawl.profiles (
  digest text primary key,
  profile jsonb not null,
  first_used_at timestamptz not null
);

alter table pawl.runs add column profile text;
alter table pawl.runs add column profile_digest text references pawl.profiles;
-- What held each limit: the kernel's account of the whole tree, a limit of each single process, or nothing.
alter table pawl.runs add column limits_held jsonb;

-- How a task works in its workspace, if somebody chose: directly, in a copy, in a clone.
alter table pawl.tasks add column workspace_how jsonb;
`
