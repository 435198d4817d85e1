import type pg from 'pg'
import { fp } from '../../base/failpoint.ts'
import { conflict, invalid } from '../../domain/error.ts'
import { migrateWithin, refuseNewer } from '../migrate.ts'
import { migrations } from '../migrations/index.ts'
import type { CheckedArchive } from './archive-reader.ts'
import { columnList, named, quoted } from './catalog.ts'
import { copyIn } from './copy.ts'
import { putEntry } from './home-files.ts'

export interface RestoreOptions {
  readonly home: string
  readonly now: Date
  /** Connections that this process itself has beside the one it restores by. */
  readonly ownConnections: number
  readonly onPart?: ((name: string) => void) | undefined
  /** Up to which schema it is brought; that of this program if left out. */
  readonly migrations?: typeof migrations | undefined
}

/** Whose entry in the audit says that a restore is complete. */
export const restoreAction = 'backup.restore'

/**
 * Puts a checked backup into an empty store, in one transaction: tables as the migrations of that time made them, their rows, then the migrations since. Files of the home
 * are written first, so that when the transaction has committed all is there.
 */
export async function restoreBackup(client: pg.Client, archive: CheckedArchive, options: RestoreOptions): Promise<void> {
  const { header, manifest } = archive
  refuseNewer(header.migrations)
  await client.query('begin')
  try {
    await refuseUsed(client, options.ownConnections)
    await client.query('drop schema if exists pawl cascade')
    await client.query('drop schema if exists pgboss cascade')
    const then = new Set(header.migrations)
    await migrateWithin(
      client,
      options.now,
      migrations.filter(({ id }) => then.has(id)),
    )
    const rebuild = await layBare(client)
    for await (const { begin, blocks } of archive.parts()) {
      if (begin.part !== 'table') {
        await putEntry(options.home, begin, blocks)
        options.onPart?.(begin.path)
        continue
      }
      const { rows } = await client.query(`select to_regclass('${named(begin.name).replaceAll("'", "''")}') as found`)
      if (rows[0]?.found === null) throw invalid(`The backup holds a table "${begin.name}" that no migration makes.`)
      await copyIn(client, `copy ${named(begin.name)} (${columnList(begin)}) from stdin`, blocks)
      options.onPart?.(begin.name)
    }
    await fp('restore.copied')
    for (const statement of rebuild) await client.query(statement)
    for (const { name, value, isCalled } of header.sequences)
      await client.query('select setval($1::regclass, $2::bigint, $3)', [named(name), value, isCalled])
    await compareCounts(client, manifest.parts)
    await migrateWithin(client, options.now, options.migrations)
    await forgetPlace(client, { from: header.home, to: options.home, now: options.now })
    await client.query('insert into pawl.audit (at, actor, via, action, subject, detail) values ($1, $2, $3, $4, $5, $6)', [
      options.now,
      'local',
      'cli',
      restoreAction,
      header.id,
      JSON.stringify({ takenAt: header.takenAt, pawl: header.pawl }),
    ])
    await fp('restore.commit.before')
    await client.query('commit')
    await fp('restore.commit.after')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Whether a restore of this backup has committed. */
export async function isRestored(client: pg.ClientBase, backup: string): Promise<boolean> {
  const { rows: found } = await client.query<{ there: boolean }>("select to_regclass('pawl.audit') is not null as there")
  if (!found[0]?.there) return false
  const { rows } = await client.query('select from pawl.audit where action = $1 and subject = $2 limit 1', [
    restoreAction,
    backup,
  ])
  return rows.length > 0
}

/** Tables in which anything at all means that somebody has worked here. */
const tellTale = ['tasks', 'sessions', 'schedules', 'secrets', 'users']

export async function refuseUsed(client: pg.ClientBase, ownConnections: number): Promise<void> {
  for (const table of tellTale) {
    const { rows: found } = await client.query<{ there: boolean }>(`select to_regclass('pawl.${table}') is not null as there`)
    if (!found[0]?.there) continue
    const { rows } = await client.query<{ some: boolean }>(`select exists (select from pawl.${table}) as some`)
    if (rows[0]?.some)
      throw conflict(
        `This database is in use (it has ${table}); a backup is restored into an empty one: choose another home with --home, or another database with --database-url.`,
      )
  }
  const { rows: others } = await client.query<{ count: number }>(
    "select count(*)::integer as count from pg_stat_activity where datname = current_database() and application_name = 'pawl' and pid <> pg_backend_pid()",
  )
  if ((others[0]?.count ?? 0) > ownConnections)
    throw conflict('A Pawl process uses this database; stop it with "pawl stop", then restore again.')
}

/** Rows go in much faster without what is derived from them. Answers the statements that bring it back, which also prove the rows. */
async function layBare(client: pg.ClientBase): Promise<string[]> {
  const { rows: keys } = await client.query<{ name: string; on: string; definition: string }>(`
    select conname as name, conrelid::regclass::text as on, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = 'pawl'::regnamespace and contype = 'f'`)
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(`
    select c.relname as name, pg_get_indexdef(c.oid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'pawl'::regnamespace and not exists (select from pg_constraint k where k.conindid = c.oid)`)
  const { rows: tables } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'pawl'::regnamespace and relkind = 'r' and relname <> 'migrations'",
  )
  for (const { name, on } of keys) await client.query(`alter table ${on} drop constraint ${quoted(name)}`)
  for (const { name } of indexes) await client.query(`drop index ${named(name)}`)
  for (const { name } of tables) await client.query(`alter table ${named(name)} disable trigger user`)
  // What migrations put there is in the backup too.
  await client.query(`truncate ${tables.map(({ name }) => named(name)).join(', ')}`)
  return [
    ...tables.map(({ name }) => `alter table ${named(name)} enable trigger user`),
    ...indexes.map(({ definition }) => definition),
    ...keys.map(({ name, on, definition }) => `alter table ${on} add constraint ${quoted(name)} ${definition}`),
  ]
}

async function compareCounts(client: pg.ClientBase, parts: CheckedArchive['manifest']['parts']): Promise<void> {
  for (const part of parts) {
    if (part.part !== 'table') continue
    const { rows } = await client.query<{ count: number }>(`select count(*)::integer as count from ${named(part.name)}`)
    if (rows[0]?.count !== part.rows)
      throw invalid(
        `Table ${part.name} has ${rows[0]?.count} rows after the restore, and ${part.rows} in the backup; nothing was kept.`,
      )
  }
}

/**
 * The rows speak of processes and folders of the place they come from. No worker of that place is alive here, so recovery gives back what they held; what they had started
 * may well be alive there, and is none of ours to end.
 */
async function forgetPlace(client: pg.ClientBase, { from, to, now }: { from: string; to: string; now: Date }): Promise<void> {
  await client.query('update pawl.workers set ended_at = $1 where ended_at is null', [now])
  await client.query('update pawl.runs set kill_unit = null where kill_unit is not null')
  if (from === to) return
  for (const table of ['tasks', 'sessions'])
    await client.query(
      `update pawl.${table} set workspace = $2 || substr(workspace, length($1) + 1) where starts_with(workspace, $1)`,
      [`${from}/workspaces/`, `${to}/workspaces/`],
    )
}
