import { sql } from 'kysely'
import type { Reason } from '../domain/task/task.ts'
import { isChecking } from './cooldowns.ts'
import type { Db } from './database.ts'

interface Queued {
  readonly id: string
  readonly agent: string
  readonly workspace: string
  readonly session_id: string
  readonly user_name: string
  readonly account: string
}

interface Cooling {
  readonly agent: string
  readonly until: string
  readonly isChecking: boolean
  readonly why: string
}

interface Around {
  readonly is_halted: boolean
  readonly running: readonly { id: string; agent: string; workspace: string; session: string; user: string }[]
  readonly cooling: Readonly<Record<string, Cooling>>
  readonly slots: Readonly<Record<string, number>>
}

/** What keeps each of these queued tasks from running at this moment, in their order; null if nothing does and its turn is about to come. One statement for all. */
export async function whatTheyWaitFor(
  db: Db,
  tasks: readonly Queued[],
  limits: { readonly running: number; readonly perAgent: Readonly<Record<string, number>> } | undefined,
): Promise<(Reason | null)[]> {
  if (tasks.length === 0) return []
  const { rows } = await sql<Around>`
    select exists (select 1 from pawl.halt where is_set) as is_halted,
      coalesce((select jsonb_agg(jsonb_build_object('id', id, 'agent', agent, 'workspace', workspace, 'session', session_id, 'user', user_name) order by id) from pawl.tasks where state = 'running'), '[]') as running,
      coalesce((select jsonb_object_agg(c.account, jsonb_build_object('agent', c.agent, 'until', c.until, 'isChecking', ${isChecking}, 'why', c.why)) from pawl.cooldowns c where c.account = any(${tasks.map(({ account }) => account)}::text[])), '{}') as cooling,
      coalesce((select jsonb_object_agg(name, slots) from pawl.users where slots is not null and name = any(${tasks.map((task) => task.user_name)}::text[])), '{}') as slots
  `.execute(db)
  return tasks.map((task) => reasonOf(task, rows[0]!, limits))
}

function reasonOf(task: Queued, around: Around, limits: Parameters<typeof whatTheyWaitFor>[2]): Reason | null {
  // It may have begun since its row was read: it does not wait for itself.
  const running = around.running.filter(({ id }) => id !== task.id)
  if (around.is_halted) return { kind: 'halted', detail: 'all agents were stopped; "pawl resume" lets the queue go on' }
  const cooling = around.cooling[task.account]
  if (cooling) return { kind: 'cooldown', detail: coolingDetail(cooling) }
  const session = running.find((other) => other.session === task.session_id)
  if (session) return { kind: 'session', detail: session.id }
  const workspace = running.find((other) => other.workspace === task.workspace)
  if (workspace) return { kind: 'workspace', detail: workspace.id }
  const slots = around.slots[task.user_name] ?? Number.POSITIVE_INFINITY
  if (running.filter(({ user }) => user === task.user_name).length >= slots) return { kind: 'user_slots', detail: task.user_name }
  const lane = running.filter(({ agent }) => agent === task.agent).length
  const laneLimit = limits?.perAgent[task.agent] ?? Number.POSITIVE_INFINITY
  return limits && (running.length >= limits.running || lane >= laneLimit) ? { kind: 'slot' } : null
}

const coolingDetail = ({ agent, until, isChecking, why }: Cooling) =>
  isChecking
    ? `the account of ${agent} was at its limit; another task is trying whether that is over`
    : `the account of ${agent} cools down until ${new Date(until).toISOString()}: ${why}`
