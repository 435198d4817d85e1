/** What a task knows of its subtasks lies in its own row, which its lock keeps true: that it has some, and of which ends it was told. */
export default `
alter table pawl.tasks add column has_subtasks boolean not null default false;
alter table pawl.tasks add column told_subtasks text[] not null default '{}';
`
