/** What a task has beside its own row, in the order in which it must be written. Nothing that lets anybody in is among it: no tokens, no secrets, no users. */
export const taskTables = [
  { kind: 'run', table: 'runs', key: 'fence' },
  { kind: 'question', table: 'questions', key: 'id' },
  { kind: 'grant', table: 'grants', key: 'question_id' },
  { kind: 'check', table: 'checks', key: 'number' },
  { kind: 'ledger', table: 'ledger', key: 'id' },
  { kind: 'change', table: 'run_changes', key: 'run_id' },
  { kind: 'dependency', table: 'task_dependencies', key: 'depends_on_id' },
  { kind: 'head', table: 'journal_heads', key: 'task_id' },
  { kind: 'event', table: 'events', key: 'seq' },
] as const

/** Columns that mean something in one place only: what numbers rows, transactions, processes. */
export const localColumns: Readonly<Record<string, readonly string[]>> = {
  runs: ['kill_unit', 'worker_id', 'admitted_by', 'alone', 'alone_ms'],
  tasks: ['bound_to', 'suspect'],
  ledger: ['id'],
  events: ['id', 'xid', 'xact'],
  session_files: ['id'],
  journal_heads: ['told'],
}

export const exportVersion = 1

export interface Line {
  readonly kind: string
  readonly row: Record<string, unknown>
}
