import { z } from 'zod'
import { Name, TaskId } from '../id.ts'
import { type Check, Checks } from './spec.ts'
import { taskStates } from './task.ts'

/** What an agent may decide about a part of its task that it hands to another run. Everything else comes from its own task. */
export const SubtaskAsked = z.strictObject({
  prompt: z
    .string()
    .min(1)
    .max(200_000)
    .refine((text) => text.trim() !== '', 'it is empty')
    .describe('Everything that whoever does it has to know: it sees the workspace, and nothing of your conversation.'),
  name: z.string().min(1).max(200).optional().describe('A few words to tell it from the others.'),
  agent: Name.optional().describe('Another agent, if your task names others that may be used; yours if left out.'),
  model: z
    .string()
    .regex(/^[\w@][\w.:=@/+-]{0,199}$/, 'a model name cannot begin with a dash')
    .optional(),
  tags: z.array(Name).max(50).optional(),
  checks: z
    .union([Checks, z.array(z.string().min(1).max(65_536)).min(1).max(50)])
    .transform(
      (given): Checks => (Array.isArray(given) ? { commands: given.map((run): Check => ({ run })), attempts: 1 } : given),
    )
    .optional()
    .describe('Shell commands that must pass when it is done.'),
  dependsOn: z
    .array(z.string().min(1).max(200))
    .max(100)
    .optional()
    .describe('Ids of other subtasks of yours that must be done first.'),
  budgetUsd: z
    .number()
    .positive()
    .optional()
    .describe('The most it may cost; a part of what your task has left if you say nothing.'),
  timeoutMs: z.number().int().min(1).optional().describe('The longest that a run of it may take.'),
  skipPlanning: z.boolean().optional().describe('false: it is asked to split its work too, where it may.'),
})
export type SubtaskAsked = z.infer<typeof SubtaskAsked>

/** A subtask as the agent that made it sees it. */
export const SubtaskView = z.object({
  id: TaskId,
  name: z.string().nullable(),
  state: z.enum(taskStates),
  text: z.string().nullable().describe('What it came to; null before it has ended.'),
})
export type SubtaskView = z.infer<typeof SubtaskView>

/** What the run at the door may do with subtasks of its own task, and with no other. What resolves is stored. */
export interface SubtaskVerbs {
  /** False where every subtask would be refused, so that none is offered. */
  readonly mayCreate: boolean
  /** The same key, or without one the same words in the same run, give the same subtask. */
  create(asked: SubtaskAsked, key?: string): Promise<{ subtask: SubtaskView; created: boolean }>
  list(): Promise<SubtaskView[]>
  get(id: string): Promise<SubtaskView>
  /** The task that the run works on. */
  own(): Promise<OwnTask>
}

export interface OwnTask {
  readonly id: string
  readonly name: string | null
  readonly prompt: string
  readonly parent: string | null
  readonly agent: string
  readonly subtasks: readonly SubtaskView[]
}
