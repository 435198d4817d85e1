/**
 * Tasks whose program ran when their worker died run alone. `alone_ms`: for so long nothing else may start beside this run; `alone`: nothing has started beside it so far.
 * `seen_at` is the last beat, so that the time a worker lay dead does not count as time its runs lasted; `died`: it did not leave by itself.
 */
export default `
alter table pawl.tasks add column suspect jsonb;
create index tasks_suspect on pawl.tasks (id) where suspect is not null;
alter table pawl.runs add column alone_ms bigint, add column alone boolean not null default false;
create index runs_alone on pawl.runs (task_id) where alone_ms is not null;
alter table pawl.workers add column seen_at timestamptz, add column died boolean not null default false;
`
