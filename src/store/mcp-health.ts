import { sql } from 'kysely'
import { McpHealth } from '../domain/agent/mcp-server.ts'
import type { Db } from './database.ts'

export interface StoredHealth {
  readonly digest: string
  readonly health: McpHealth
}

/** What was seen last of each server, by name. What cannot be read any more was written by another version, and says nothing. */
export async function readHealth(db: Db): Promise<Map<string, StoredHealth>> {
  const { rows } = await sql<{ name: string; digest: string; health: unknown }>`
    select name, digest, health from pawl.mcp_health
  `.execute(db)
  return new Map(
    rows.flatMap(({ name, digest, health }) => {
      const read = McpHealth.safeParse(health)
      return read.success ? [[name, { digest, health: read.data }] as const] : []
    }),
  )
}

/** A look keeps when it failed last, unless it failed itself. What was seen later stands. */
export async function writeHealth(db: Db, name: string, { digest, health }: StoredHealth, at: Date): Promise<void> {
  await sql`
    insert into pawl.mcp_health as known (name, digest, health, checked_at)
    values (${name}, ${digest}, ${JSON.stringify(health)}::jsonb, ${at})
    on conflict (name) do update set digest = excluded.digest, checked_at = excluded.checked_at,
      health = case when excluded.health ->> 'failedAt' is null and known.digest = excluded.digest
        then excluded.health || jsonb_build_object('failedAt', known.health -> 'failedAt', 'lastError', known.health -> 'lastError')
        else excluded.health end
    where known.checked_at <= excluded.checked_at
  `.execute(db)
}
