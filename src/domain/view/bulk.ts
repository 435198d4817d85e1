import { z } from 'zod'
import { Name, TaskId } from '../id.ts'
import { Priority } from './view.ts'

/** One thing done to many tasks, each for itself: what one refuses keeps nothing from the others. */
export const bulkActions = ['cancel', 'retry', 'delete', 'edit'] as const
export type BulkAction = (typeof bulkActions)[number]

export const BulkWork = z.strictObject({
  action: z.enum(bulkActions),
  tasks: z.array(TaskId).min(1).max(1_000),
  now: z.boolean().optional().describe('Cancel without grace.'),
  fresh: z.boolean().optional().describe('Retry with a new conversation.'),
  priority: Priority.optional().describe('Edit: the new priority.'),
  addTags: z.array(Name).max(50).optional().describe('Edit: tags that each gets.'),
  removeTags: z.array(Name).max(50).optional().describe('Edit: tags that each loses.'),
})
export type BulkWork = z.infer<typeof BulkWork>

export const BulkResult = z.object({
  done: z.array(TaskId).describe('In the order of the request.'),
  refused: z.array(z.object({ id: TaskId, code: z.string(), message: z.string() })),
})
export type BulkResult = z.infer<typeof BulkResult>
