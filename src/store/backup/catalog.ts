import type pg from 'pg'

/** What lies in our schema, as the server tells it: a table that a later migration adds is in the next backup without a line here. */
export interface Catalog {
  readonly tables: readonly Table[]
  readonly sequences: readonly Sequence[]
}

export interface Table {
  readonly name: string
  /** Those that are copied. */
  readonly columns: readonly string[]
}

export interface Sequence {
  readonly name: string
  readonly value: string
  readonly isCalled: boolean
}

/** The list of applied migrations is in the header of a backup: the tables of a restored store come from the migrations themselves. */
const ownTable = 'migrations'

export async function readCatalog(client: pg.ClientBase): Promise<Catalog> {
  // Ids of transactions mean something in one server only. Left out, each row gets that of the transaction which restores it, as if all had happened in it.
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'pawl'::regnamespace and c.relkind = 'r' and c.relname <> '${ownTable}'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
    group by c.relname order by c.relname`)
  const { rows: sequences } = await client.query<{ name: string }>(`
    select relname as name from pg_class where relnamespace = 'pawl'::regnamespace and relkind = 'S' order by relname`)
  const values: Sequence[] = []
  for (const { name } of sequences) {
    const { rows } = await client.query<{ value: string; is_called: boolean }>(
      `select last_value::text as value, is_called from ${named(name)}`,
    )
    if (rows[0]) values.push({ name, value: rows[0].value, isCalled: rows[0].is_called })
  }
  return { tables, sequences: values }
}

export async function appliedMigrations(client: pg.ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>('select id from pawl.migrations order by id')
  return rows.map(({ id }) => id)
}

/** A table or sequence of our schema, as SQL writes it. */
export const named = (name: string) => `pawl.${quoted(name)}`
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
export const columnList = ({ columns }: Pick<Table, 'columns'>) => columns.map(quoted).join(', ')
