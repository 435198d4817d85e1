import { type RawBuilder, sql } from 'kysely'
import { type Column, statesOf } from '../domain/task/column.ts'
import { type Stage, statesAt } from '../domain/task/stage.ts'
import { ended, isEnded, type TaskState, taskStates } from '../domain/task/task.ts'

/** Which tasks: all of those that fit everything that is named. */
export interface TaskNarrowing {
  readonly states?: readonly string[] | undefined
  /** Columns of the board; a task fits that stands in one of them. */
  readonly columns?: readonly Column[] | undefined
  /** What protocols call where it stands; a task fits that stands at one of them. */
  readonly stages?: readonly Stage[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  /** In the prompt or the name, or the end of the id. */
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly parent?: string | undefined
  readonly endedSince?: Date | undefined
  readonly updatedSince?: Date | undefined
}

/** The condition that tasks fit. */
export function fits({ agent, tag, text, session, parent, endedSince, updatedSince, ...standing }: TaskNarrowing): Sql {
  return all([
    isStanding(standing, sql`coalesce(reason->>'kind', '')`),
    agent !== undefined && sql`agent = ${agent}`,
    tag !== undefined && isTagged(tag),
    text !== undefined && hasText(text),
    session !== undefined && sql`session_id = ${session}`,
    parent !== undefined && sql`parent_id = ${parent}`,
    endedSince && sql`ended_at >= ${endedSince}`,
    updatedSince && sql`updated_at >= ${updatedSince}`,
  ])
}

type Sql = RawBuilder<unknown>

const all = (conditions: readonly (Sql | false | undefined)[]): Sql => {
  const named = conditions.filter((one) => one !== undefined && one !== false)
  return named.length === 0 ? sql`true` : sql.join(named, sql` and `)
}

/** The condition that tasks stand where they are to stand. `kind` says why they are there, '' if there is no reason. */
export function isStanding({ states, columns, stages }: Pick<TaskNarrowing, 'states' | 'columns' | 'stages'>, kind: Sql): Sql {
  const any = (conditions: readonly Sql[]) => sql`(${conditions.length === 0 ? sql`false` : sql.join(conditions, sql` or `)})`
  return all([
    states && isIn(states),
    columns && any(columns.map((column) => standsIn(column, kind))),
    stages && any(stages.map((stage) => isAt(stage, kind))),
  ])
}

/** The states in which tasks that fit can be. */
export function statesOfFitting({ states, columns, stages }: TaskNarrowing): TaskState[] {
  const sets: (readonly string[] | undefined)[] = [
    states,
    columns?.flatMap((column) => statesOf[column]),
    stages?.flatMap((stage) => statesAt[stage]),
  ]
  return taskStates.filter((state) => sets.every((set) => set === undefined || set.includes(state)))
}

/**
 * The condition that a task is in one of these states. Written out, and so only what is a state of ours: the planner knows how many tasks are in each, and an index over some of them is used only
 * where the statement itself shows that it holds all that is asked for.
 */
export const isIn = (states: readonly string[]): Sql => {
  const known = taskStates.filter((state) => states.includes(state))
  return known.length === 0 ? sql`false` : sql`state in (${sql.join(known.map((state) => sql.lit(state)))})`
}

/** The conditions that tasks have ended, or not. Indexes that hold ended tasks only are used where the statement itself says that no others are asked for. */
export const isOver = isIn(ended)
export const isOpen = isIn(taskStates.filter((state) => !isEnded(state)))

/** The same as `columnOf` in the domain. */
export function standsIn(column: Column, kind: Sql): Sql {
  const isOf = isIn(statesOf[column])
  const waitsForSubtasks = sql`${kind} = 'subtasks'`
  if (column === 'working') return sql`(${isOf} and (state <> 'blocked' or ${waitsForSubtasks}))`
  return column === 'needs_you' ? sql`(${isOf} and not ${waitsForSubtasks})` : sql`(${isOf})`
}

/** The same as `stageOf` in the domain. */
function isAt(stage: Stage, kind: Sql): Sql {
  const isOf = isIn(statesAt[stage])
  if (stage === 'working') return sql`(${isOf} and (state <> 'blocked' or ${kind} = 'subtasks'))`
  if (stage === 'input_required') return sql`(${isOf} and (state <> 'blocked' or ${kind} <> 'subtasks'))`
  if (stage === 'auth_required') return sql`(${isOf} and ${kind} = 'auth_failed')`
  return stage === 'failed' ? sql`(${isOf} and (state <> 'failed' or ${kind} <> 'auth_failed'))` : sql`(${isOf})`
}

const isTagged = (tag: string) => sql`(tags @> array[${tag}]::text[] and tags <> '{}')`

/** Each part has an index of its own (migration 32): the beginning of the prompt, the name, prompts that are longer than their index, and the id read from its end. No id has a character above chr(127). */
function hasText(text: string): Sql {
  const pattern = sql`lower(${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`})`
  return sql`(lower(left(prompt, 20000)) like ${pattern} or lower(name) like ${pattern} or (octet_length(prompt) > 20000 and lower(prompt) like ${pattern})
    or (reverse(id) collate "C" >= reverse(${text}) and reverse(id) collate "C" < reverse(${text}) || chr(127)))`
}

/** Whether an index finds the tasks with these words. The one of texts knows groups of three letters or digits, and in its locale only those of ASCII. */
export const hasIndexOfWords = ({ text, tag }: TaskNarrowing): boolean =>
  tag !== undefined || (text !== undefined && /[a-z0-9]{3}/i.test(text))
