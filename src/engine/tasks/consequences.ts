import { closeQuestions } from '../../store/questions.ts'
import { releaseDependents } from './dependencies.ts'
import type { Consequence, Moving } from './moving.ts'
import { settleTick } from './settle-tick.ts'
import { tellParent } from './subtasks/tell-parent.ts'

/** What the end of a task means for others, in this order. Locks go from a task to those that wait for it, never the other way. */
export const consequences: readonly Consequence[] = [
  { name: 'questions', when: ({ is_asking }) => is_asking, apply: (moving, { id }) => dropQuestions(moving, id) },
  { name: 'dependents', when: ({ has_dependents }) => has_dependents, apply: releaseDependents },
  {
    name: 'parent',
    when: ({ parent_id }) => parent_id !== null,
    apply: (moving, { id, parent_id }, move) => tellParent(moving, parent_id!, id, move),
  },
  { name: 'schedule', when: ({ schedule_id }) => schedule_id !== null, apply: ({ tx, at }, { id }) => settleTick(tx, id, at) },
]

/** What a task still asks needs no answer any more. */
export async function dropQuestions({ tx, record }: Moving, task: string): Promise<void> {
  for (const questionId of await closeQuestions(tx, task))
    record({ task, event: { type: 'question.closed', data: { questionId, state: 'cancelled' } } })
}
