/** Lists by what changed or ended last, and how the last runs of each agent went. */
export default `
create index tasks_ended on pawl.tasks (ended_at desc, id desc) where ended_at is not null;
create index tasks_updated on pawl.tasks (updated_at desc, id desc);
create index runs_ended on pawl.runs (agent, ended_at desc, id) where ended_at is not null;
`
