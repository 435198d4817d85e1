import { z } from 'zod'
import { Name } from '../id.ts'
import { priorities } from '../task/task.ts'
import type { NewTask } from '../view/view.ts'

/** Marks the tasks that turn words into tasks. */
export const elaborateTag = 'elaborate'

/** What an agent makes of somebody's words. Every field is required: some providers hold a model to a schema only then. */
export const Proposal = z.strictObject({
  name: z.string().min(1).max(100).describe('A few words by which people know the task.'),
  prompt: z.string().min(1).max(100_000).describe('What is to be done, for an agent that knows nothing else of it.'),
  checks: z
    .array(z.string().min(1).max(1_000))
    .max(10)
    .describe('Shell commands that succeed only if the work is done; empty if there are none.'),
  tags: z.array(Name).max(10).describe('Labels to find it by; empty if none fits.'),
  priority: z.enum(['high', 'normal', 'low']),
  review: z.boolean().describe('Whether a person should look at the work before it counts as done.'),
})
export type Proposal = z.infer<typeof Proposal>

export const NewElaboration = z.strictObject({
  text: z
    .string()
    .max(100_000)
    .refine((text) => text.trim() !== '', 'There are no words to make a task of; say what is to be done.')
    .describe('What somebody wants, in their own words.'),
  workspace: z.string().min(1).max(4096).optional().describe('An absolute path: the folder that the task is about.'),
})
export type NewElaboration = z.infer<typeof NewElaboration>

/** How it is done, from the settings. */
export interface ElaborateSettings {
  readonly agent: string
  readonly model?: string | undefined
  readonly timeoutMs: number
  readonly budgetUsd: number
}

/** The request that a proposal stands for. */
export const taskOf = ({ name, prompt, checks, tags, priority, review }: Proposal, workspace?: string): NewTask => ({
  name,
  prompt,
  ...(workspace === undefined ? {} : { workspace }),
  ...(tags.length > 0 ? { tags } : {}),
  ...(priority === 'normal' ? {} : { priority: priorities[priority] }),
  ...(review ? { review } : {}),
  ...(checks.length > 0 ? { checks: { commands: checks.map((run) => ({ run })), attempts: 0 } } : {}),
})
