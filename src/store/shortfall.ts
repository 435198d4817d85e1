import { sql } from 'kysely'
import { type Shortfall, shortfalls } from '../domain/run/outcome.ts'

/** Tells, as a column, that a completed or reviewed task did less than it was asked for; null for all others. As `shortfallOf` does. */
export const shortfallColumn = (alias: string) =>
  sql<Shortfall | null>`case when ${sql.ref(`${alias}.state`)} in ('completed', 'review') and ${sql.ref(`${alias}.reason`)} ->> 'kind' = any(${[...shortfalls]}::text[]) then ${sql.ref(`${alias}.reason`)} ->> 'kind' end`
