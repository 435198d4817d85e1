import type { Adapter } from '../../../agents/port.ts'
import type { TaskRow } from '../../../store/tables.ts'
import { limitsOf, maySplit } from './part.ts'

/**
 * Is the agent asked to plan? As the task says; where it says nothing, only if it says how far it may be split: a word about planning costs a small task more than it is worth.
 */
export const isPlanned = ({ spec, depth }: Pick<TaskRow, 'spec' | 'depth'>): boolean =>
  maySplit({ spec, depth }) && !(spec.skipPlanning ?? spec.subtasks === undefined)

/** What stands before the task that is to be planned. No tool is switched on for it: what the task or its profile takes away stays away. */
export function planningPreamble(task: Pick<TaskRow, 'spec'>, { can }: Pick<Adapter, 'can'>): string {
  const { most } = limitsOf(task.spec)
  const how = can.mcp
    ? 'Make each of them with the tool create_subtask of the server "pawl".'
    : `Make each of them with one request:

curl -sS -H "Authorization: Bearer $PAWL_API_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "…", "prompt": "…"}' "$PAWL_API_URL/v1/subtasks"`
  return `Before you begin, estimate how long this task will take you. If it is a matter of a few minutes, just do it.

If it is more, split it into ${most < 3 ? `at most ${most}` : `3 to ${Math.min(7, most)}`} subtasks that can be done one after another, each with everything that somebody has to know who sees the workspace and nothing of this conversation. ${how} They work in the same workspace, one at a time. When you have made them all, end your turn: you will be told what became of them and go on then. Do not wait for them, and do not do their work yourself.

When all of it is done and the workspace is a git repository, commit everything that belongs to it. End your last answer with a few sentences on what was done, below the heading "## Summary".

The task:`
}
