import { sql } from 'kysely'
import type { Tx } from '../database.ts'
import { localColumns } from './tables.ts'

const known = new Map<string, readonly string[]>()

/** Columns that this schema has; a line of an older one has fewer, and the rest gets what it gets by itself. */
async function columnsOf(tx: Tx, table: string): Promise<readonly string[]> {
  const found = known.get(table)
  if (found) return found
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute where attrelid = ${`pawl.${table}`}::regclass and attnum > 0 and not attisdropped
  `.execute(tx)
  const names = rows.map(({ name }) => name)
  known.set(table, names)
  return names
}

/** False if there is a row with that key already. */
export async function insertRow(tx: Tx, table: string, row: Record<string, unknown>): Promise<boolean> {
  const columns = (await columnsOf(tx, table)).filter(
    // Whoever wrote the file says nothing about processes and numbers of this place.
    (column) => row[column] !== undefined && !localColumns[table]?.includes(column),
  )
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const { rows } = await sql`
    insert into ${sql.table(`pawl.${table}`)} (${list}) select ${list} from jsonb_populate_record(null::${sql.table(`pawl.${table}`)}, ${JSON.stringify(row)}::jsonb)
    on conflict do nothing returning 1
  `.execute(tx)
  return rows.length > 0
}

export async function insertSessionFile(tx: Tx, row: Record<string, unknown>): Promise<void> {
  const { chunks, ...file } = row as { chunks: { start: number; length: number; bytes: string }[] }
  if (!(await insertRow(tx, 'session_files', file))) return
  const { session_id: session, vendor_id: vendor, path } = file as Record<string, string>
  for (const { start, length, bytes } of chunks)
    await sql`
      insert into pawl.session_chunks (file_id, start, length, bytes)
      select id, ${start}, ${length}, decode(${bytes}, 'base64') from pawl.session_files
      where session_id = ${session} and vendor_id = ${vendor} and path = ${path}
    `.execute(tx)
}

/** Of a schedule that is here, whose name nobody else had; a task that is not here is left out of it. */
export async function insertTick(tx: Tx, row: Record<string, unknown>): Promise<void> {
  const { rows } = await sql<{ task: string | null }>`
    select (select id from pawl.tasks where id = ${row.task_id ?? null}) as task from pawl.schedules where id = ${row.schedule_id}
  `.execute(tx)
  if (rows[0]) await insertRow(tx, 'schedule_ticks', { ...row, task_id: rows[0].task })
}

/**
 * A run that went on when it was exported goes on nowhere here. It becomes one that a process admitted which has ended: recovery gives such runs back, with the events that belong
 * to it, and the task goes on without having lost a try.
 */
export async function strandOpenRuns(tx: Tx, task: string, worker: string, now: Date): Promise<void> {
  const { rows } = await sql`select from pawl.runs where task_id = ${task} and state <> 'ended'`.execute(tx)
  if (rows.length === 0) return
  await sql`
    insert into pawl.workers (id, host, boot_id, pid, start_time, started_at, ended_at) values (${worker}, 'import', 'import', 0, '0', ${now}, ${now})
    on conflict do nothing
  `.execute(tx)
  await sql`update pawl.runs set state = 'admitted', admitted_by = ${worker} where task_id = ${task} and state <> 'ended'`.execute(
    tx,
  )
}
