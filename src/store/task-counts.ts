import { type RawBuilder, sql } from 'kysely'
import type { Column } from '../domain/task/column.ts'
import type { Db } from './database.ts'
import { fits, isOpen, isOver, isStanding, standsIn, type TaskNarrowing } from './task-filter.ts'

/** How many tasks are in each state; those in which none is are left out. */
export async function countByState(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, sum(n) as count from (${counted({})}) as counts group by state having sum(n) > 0
  `.execute(db)
  return Object.fromEntries(rows.map((row) => [row.state, row.count]))
}

/** How many of the tasks that fit stand in each column of the board. */
export async function countByColumn(db: Db, filter: TaskNarrowing): Promise<Record<Column, number>> {
  const { states, columns, stages, ...rest } = filter
  const kind = sql`kind`
  const inColumn = (column: Column) => sql`coalesce(sum(n) filter (where ${standsIn(column, kind)}), 0)`
  const { rows } = await sql<Record<Column, number>>`
    select ${inColumn('working')} as working, ${inColumn('needs_you')} as needs_you, ${inColumn('review')} as review, ${inColumn('waiting')} as waiting, ${inColumn('done')} as done
    from (${counted(rest)}) as counts where ${isStanding({ states, columns, stages }, kind)}
  `.execute(db)
  return rows[0]!
}

/** Numbers of tasks that fit, by where they stand. Ended tasks are kept counted by agent and tag (migration 32); whatever else is named, the tasks themselves are counted. */
function counted(filter: Omit<TaskNarrowing, 'states' | 'columns' | 'stages'>): RawBuilder<unknown> {
  const { agent, tag, ...others } = filter
  // To the planner a time without an end holds a third of all tasks, and it would read all of them.
  const hasEnd = sql`${filter.endedSince ? sql`ended_at < 'infinity'` : sql`true`} and ${filter.updatedSince ? sql`updated_at < 'infinity'` : sql`true`}`
  const each = sql`select state, coalesce(reason->>'kind', '') as kind, 1 as n from pawl.tasks where ${fits(filter)} and ${hasEnd}`
  if (Object.values(others).some((one) => one !== undefined)) return sql`${each} and ${isOpen} union all ${each} and ${isOver}`
  return sql`
    ${each} and ${isOpen}
    union all select state, kind, n from pawl.task_counts where tag = ${tag ?? ''} and ${agent === undefined ? sql`true` : sql`agent = ${agent}`}
  `
}
