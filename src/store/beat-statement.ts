/** Counts one beat of the worker `$1` at the time `$2` and says what it holds, and which tasks among that were asked to stop. No row: others have declared it dead. */
export const beatStatement = `
  update pawl.workers set beat = beat + 1, seen_at = $2 where id = $1 and ended_at is null
  returning array(select run_id from pawl.leases where worker_id = $1) as runs,
    array(select l.task_id from pawl.leases l join pawl.tasks t on t.id = l.task_id where l.worker_id = $1 and t.cancel is not null) as cancelled
`
