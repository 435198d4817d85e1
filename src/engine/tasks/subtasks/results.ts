import { type Category, categories } from '../../../domain/run/outcome.ts'
import type { SubtaskView } from '../../../domain/task/subtask.ts'
import { isEnded } from '../../../domain/task/task.ts'
import type { TaskView } from '../../../domain/view/view.ts'
import type { Db } from '../../../store/database.ts'
import { type SubtaskRow, treeBelow } from '../../../store/subtasks.ts'
import type { SubtaskResult } from '../../../store/tables.ts'

/** Together they must leave room for the work in the window of any model. */
const maxAllChars = 40_000
const maxOneChars = 8_000

/** What became of subtasks that have ended, short enough to be told together. */
export function resultsOf(rows: readonly SubtaskRow[]): SubtaskResult[] {
  return toldTogether(rows.filter((row) => isEnded(row.state))).map(({ id, name, state, text }) => ({
    task: id,
    name,
    state,
    text: text ?? '',
  }))
}

/** Subtasks as they can be told together, each cut so that all have room. */
export function toldTogether(rows: readonly SubtaskRow[]): SubtaskView[] {
  const each = Math.min(maxOneChars, Math.floor(maxAllChars / Math.max(1, rows.length)))
  return rows.map(subtaskView).map((view) => ({ ...view, text: view.text === null ? null : cutWell(view.text, each) }))
}

export const subtaskView = (row: SubtaskRow): SubtaskView => ({
  id: row.id,
  name: titleOf(row),
  state: row.state,
  text: isEnded(row.state) ? textOf(row) : null,
})

/** Everything below a task, as it is shown with it. */
export async function subtasksBelow(db: Db, task: string): Promise<TaskView['subtasks']> {
  const rows = await treeBelow(db, task)
  return rows.map((row) => ({
    ...{ id: row.id, parent: row.parent_id, name: titleOf(row), state: row.state },
    ...(row.shortfall === null ? {} : { shortfall: row.shortfall }),
  }))
}

/** Its name, else how its prompt begins. */
export function titleOf({ name, prompt }: Pick<SubtaskRow, 'name' | 'prompt'>): string {
  if (name !== null) return name
  const line = prompt.trim().split('\n', 1)[0]!
  return line.length > 80 ? `${line.slice(0, 79).trimEnd().toWellFormed()}…` : line
}

/** Why it did not end well comes first, and what it said of its work after it. */
function textOf({ reason, result }: SubtaskRow): string {
  const why = reason === null ? undefined : whyOf(reason)
  return [why, result?.text].filter((part) => part !== undefined && part.trim() !== '').join('\n\n')
}

/** An agent is told what kind of trouble the machine or the provider had, not what they said: that names places, hosts and accounts. */
function whyOf({ kind, detail }: NonNullable<SubtaskRow['reason']>): string | undefined {
  const category = ofTheMachine.find((one) => one === kind)
  return category === undefined ? detail : categories[category].says
}
const ofTheMachine = [
  'rate_limited',
  'overloaded',
  'usage_limit',
  'network',
  'auth_failed',
  'bad_config',
  'binary_missing',
  'sandbox_error',
  'workspace_error',
  'internal',
] as const satisfies Category[]

/** The beginning, up to the end of a paragraph, a line or a word, and how much is missing. */
export function cutWell(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, maxChars)
  const end = ['\n\n', '\n', ' '].map((mark) => head.lastIndexOf(mark)).find((at) => at > maxChars / 2) ?? maxChars
  const kept = head.slice(0, end).trimEnd().toWellFormed()
  return `${kept}\n[… ${text.length - kept.length} more characters]`
}
