import type pg from 'pg'
import { named, quoted } from '../backup/catalog.ts'
import { type Line, localColumns, taskTables } from './tables.ts'

const atOnce = 200
/** Whoever reads no further for so long has gone: the snapshot keeps the server from tidying up. */
const longestPauseMs = 600_000

/**
 * Lines of everything, or of some tasks with their sessions and profiles, as it was in one moment. What belongs to a task stands between its own line and one of kind `end`.
 * The connection is for this alone.
 */
export async function* exportLines(client: pg.Client, options: { tasks?: readonly string[] | undefined }): AsyncGenerator<Line> {
  const tasks = options.tasks && [...options.tasks]
  await client.query(`set idle_in_transaction_session_timeout = ${longestPauseMs}`)
  await client.query('begin transaction isolation level repeatable read, read only')
  const all = (kind: string, table: string, keys: readonly string[], where?: string) =>
    rows(client, { kind, table, keys, where: where && tasks ? { text: where, value: tasks } : undefined })

  yield* all(
    'profile',
    'profiles',
    ['digest'],
    'digest in (select profile_digest from pawl.runs where task_id = any($1::text[]))',
  )
  const sessions = all('session', 'sessions', ['id'], 'id in (select session_id from pawl.tasks where id = any($1::text[]))')
  for await (const session of sessions) {
    yield session
    yield* sessionFiles(client, String(session.row.id))
  }
  if (!tasks) yield* all('schedule', 'schedules', ['id'])
  // Ids sort by the time of their making, so a parent comes before what it made.
  for await (const task of all('task', 'tasks', ['id'], 'id = any($1::text[])')) {
    yield task
    const id = String(task.row.id)
    for (const { kind, table, key } of taskTables)
      yield* rows(client, { kind, table, keys: [key], where: { text: 'task_id = $1', value: id } })
    yield { kind: 'end', row: { task: id } }
  }
  // After the tasks that they name.
  if (!tasks) yield* all('tick', 'schedule_ticks', ['schedule_id', 'due_at'])
  await client.query('commit')
}

async function* sessionFiles(client: pg.Client, session: string): AsyncGenerator<Line> {
  const { rows: files } = await client.query<{ id: number; row: Record<string, unknown> }>(
    'select id, to_jsonb(f) as row from pawl.session_files f where session_id = $1 order by id',
    [session],
  )
  for (const { id, row } of files) {
    const { rows: chunks } = await client.query<{ start: number; length: number; bytes: string }>(
      "select start, length, encode(bytes, 'base64') as bytes from pawl.session_chunks where file_id = $1 order by start",
      [id],
    )
    yield { kind: 'session_file', row: { ...without('session_files', row), chunks } }
  }
}

interface Asked {
  readonly kind: string
  readonly table: string
  /** What tells its rows apart, among those that are meant; they come in this order. */
  readonly keys: readonly string[]
  readonly where?: { readonly text: string; readonly value: unknown } | undefined
}

/** Page after page, each from where the last one ended. */
async function* rows(client: pg.Client, { kind, table, keys, where }: Asked): AsyncGenerator<Line> {
  const columns = keys.map(quoted).join(', ')
  let after: readonly unknown[] | undefined
  do {
    const values = [...(where ? [where.value] : []), ...(after ?? [])]
    const places = keys.map((_, n) => `$${n + 1 + (where ? 1 : 0)}`).join(', ')
    const conditions = [...(where ? [where.text] : []), ...(after ? [`(${columns}) > (${places})`] : [])]
    const { rows: found } = await client.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${named(table)} t ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''} order by ${columns} limit ${atOnce}`,
      values,
    )
    for (const { row } of found) yield { kind, row: without(table, row) }
    const last = found.length === atOnce ? found.at(-1)?.row : undefined
    after = last && keys.map((key) => last[key])
  } while (after)
}

const without = (table: string, row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !localColumns[table]?.includes(column)))
