import { sql } from 'kysely'
import { type Suspect, whyAlone } from '../domain/task/suspect.ts'
import type { Reason } from '../domain/task/task.ts'
import { isChecking } from './cooldowns.ts'
import type { Db } from './database.ts'
import { mustBeAlone } from './suspects.ts'

interface Queued {
  readonly id: string
  readonly agent: string
  readonly workspace: string
  readonly session_id: string
  readonly user_name: string
  readonly account: string
  readonly bound_to: string | null
  readonly suspect: Suspect | null
}

interface Cooling {
  readonly agent: string
  readonly until: string
  readonly isChecking: boolean
  readonly why: string
}

interface Around {
  readonly is_halted: boolean
  readonly running: readonly {
    id: string
    agent: string
    workspace: string
    session: string
    user: string
    bound: string | null
  }[]
  /** Suspects beside whose runs nothing may start. */
  readonly alone: readonly string[]
  readonly suspects: readonly { id: string; bound: string | null }[]
  readonly cooling: Readonly<Record<string, Cooling>>
  readonly slots: Readonly<Record<string, number>>
}

/** What keeps each of these queued tasks from running at this moment, in their order; null if nothing does and its turn is about to come. One statement for all. */
export async function whatTheyWaitFor(
  db: Db,
  tasks: readonly Queued[],
  limits: { readonly running: number; readonly perAgent: Readonly<Record<string, number>> } | undefined,
  now: Date,
): Promise<(Reason | null)[]> {
  if (tasks.length === 0) return []
  const { rows } = await sql<Around>`
    select exists (select 1 from pawl.halt where is_set) as is_halted,
      coalesce((select jsonb_agg(jsonb_build_object('id', id, 'agent', agent, 'workspace', workspace, 'session', session_id, 'user', user_name, 'bound', bound_to) order by id) from pawl.tasks where state = 'running'), '[]') as running,
      array(select r.task_id from pawl.runs r where ${mustBeAlone(now)}) as alone,
      coalesce((select jsonb_agg(jsonb_build_object('id', id, 'bound', bound_to) order by rank, id) from pawl.tasks where suspect is not null and state = 'queued'), '[]') as suspects,
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
  // Whoever runs only its own tasks shares its fate with nobody.
  const beside = running.filter(({ bound }) => bound === task.bound_to)
  const alone = beside.find(({ id }) => around.alone.includes(id))
  if (alone) return waitsForSuspect(alone.id)
  if (task.suspect && beside.length > 0)
    return { kind: 'alone', detail: `waits until nothing else runs: ${whyAlone(task.suspect)}` }
  const slots = around.slots[task.user_name] ?? Number.POSITIVE_INFINITY
  if (running.filter(({ user }) => user === task.user_name).length >= slots) return { kind: 'user_slots', detail: task.user_name }
  const lane = running.filter(({ agent }) => agent === task.agent).length
  const laneLimit = limits?.perAgent[task.agent] ?? Number.POSITIVE_INFINITY
  if (limits && (running.length >= limits.running || lane >= laneLimit)) return { kind: 'slot' }
  // There is room, and yet it waits: what runs is to end first, or this one's turn is next.
  const next = around.suspects.find(({ bound }) => bound === task.bound_to)
  return next && !task.suspect && beside.length > 0 ? waitsForSuspect(next.id) : null
}

const waitsForSuspect = (id: string): Reason => ({
  kind: 'suspect',
  detail: `waits for ${id}, which must run alone because its worker died while it ran`,
})

const coolingDetail = ({ agent, until, isChecking, why }: Cooling) =>
  isChecking
    ? `the account of ${agent} was at its limit; another task is trying whether that is over`
    : `the account of ${agent} cools down until ${new Date(until).toISOString()}: ${why}`
