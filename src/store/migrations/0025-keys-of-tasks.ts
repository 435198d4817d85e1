/** The keys of one task are found by the task: they hold the ids that its messages had where they came from. */
export default `
create index idempotency_keys_task on pawl.idempotency_keys (task_id);
`
