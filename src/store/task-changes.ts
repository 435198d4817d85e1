import { sql } from 'kysely'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { TaskSpec } from '../domain/task/spec.ts'
import type { Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'

/** Changes what the task's next runs are held to. */
export async function setCaps(tx: Tx, id: string, { agent, spec }: { agent: ResolvedAgent; spec: TaskSpec }): Promise<void> {
  await sql`update pawl.tasks set agent_config = ${jsonText(agent)}::jsonb, spec = ${jsonText(spec)}::jsonb where id = ${id}`.execute(
    tx,
  )
}

/** Changes how the task is called, found and ranked. */
export async function setLabels(
  tx: Tx,
  id: string,
  labels: { name: string | null; priority: number; rank: number; tags: readonly string[]; at: Date },
): Promise<void> {
  await sql`
    update pawl.tasks set name = ${labels.name === null ? null : storableText(labels.name)}, priority = ${labels.priority}, rank = ${labels.rank},
      tags = ${[...labels.tags]}::text[], updated_at = ${labels.at}
    where id = ${id}
  `.execute(tx)
}
