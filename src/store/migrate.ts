import type pg from 'pg'
import { fp } from '../base/failpoint.ts'
import { PawlError } from '../domain/error.ts'
import type { Database } from './database.ts'
import { migrations } from './migrations/index.ts'

/** Any number that no other program is likely to lock with; pg-boss has its own. */
const lockKey = 7_295_001

/** Both schemas of the store: refuses a newer queue, then brings ours up to date; answers how many steps that took. */
export async function migrateStore(database: Database, options: { now: Date; queueVersion: number }): Promise<number> {
  // A step may take longer than any other statement of ours may.
  const client = await database.alone()
  try {
    await refuseNewerQueue(client, options.queueVersion)
    return await migrate(client, options.now)
  } finally {
    await client.end()
  }
}

/** Brings the schema to this program's version, in one transaction under one lock; refuses a schema that is newer. */
export async function migrate(client: pg.ClientBase, now: Date, list = migrations): Promise<number> {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const done = await migrateWithin(client, now, list)
    await client.query('commit')
    if (done > 0) await fp('schema.migrate.after')
    return done
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** The same within a transaction that others commit. */
export async function migrateWithin(client: pg.ClientBase, now: Date, list = migrations): Promise<number> {
  await client.query('create schema if not exists pawl')
  await client.query(
    'create table if not exists pawl.migrations (id integer primary key, name text not null, applied_at timestamptz not null)',
  )
  const { rows } = await client.query<{ id: number }>('select id from pawl.migrations order by id')
  const applied = new Set(rows.map((row) => row.id))
  refuseNewer([...applied], list)
  let done = 0
  for (const migration of list) {
    if (applied.has(migration.id)) continue
    await fp('schema.migrate.before')
    await client.query(migration.sql)
    await client.query('insert into pawl.migrations (id, name, applied_at) values ($1, $2, $3)', [
      migration.id,
      migration.name,
      now,
    ])
    done++
  }
  return done
}

/** A schema that has steps which this program does not know was written by a newer one. */
export function refuseNewer(applied: readonly number[], list = migrations): void {
  const known = new Set(list.map(({ id }) => id))
  const newer = applied.filter((id) => !known.has(id))
  if (newer.length > 0) throw tooNew(`its schema has version ${Math.max(...newer)}, this program knows ${Math.max(...known)}`)
}

/** pg-boss installs and migrates its own schema but starts on a newer one without a word. */
export async function refuseNewerQueue(client: pg.ClientBase, known: number): Promise<void> {
  const { rows: found } = await client.query<{ there: boolean }>("select to_regclass('pgboss.version') is not null as there")
  if (!found[0]?.there) return
  const { rows } = await client.query<{ version: number }>('select version from pgboss.version')
  const version = Number(rows[0]?.version ?? 0)
  if (version > known) throw tooNew(`its job queue has version ${version}, this program knows ${known}`)
}

const tooNew = (detail: string) =>
  new PawlError(
    'unavailable',
    `This database was written by a newer Pawl: ${detail}. Start the newer Pawl, or use another home (PAWL_HOME).`,
  )
