import { z } from 'zod'
import { ResolvedAgent } from '../agent/agent-config.ts'
import { Checks } from '../agent/checks.ts'
import type { TraceContext } from '../base/trace-context.ts'
import { Attachment } from '../files/view.ts'
import { QuestionPolicy } from '../question/policy.ts'

export { Check, Checks } from '../agent/checks.ts'

import { Name, RunId } from '../id.ts'
import { TaskMount } from './mount.ts'

/** How far the agent may split its task. */
export const SubtaskLimits = z.strictObject({
  most: z.number().int().min(0).max(100).default(20).describe('How many there may be in the whole tree of a task.'),
  depth: z.number().int().min(0).max(5).default(2).describe('How many levels of subtasks there may be below the topmost task.'),
  budgetShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('The part of the task’s budget that its subtasks may use together.'),
  whenDone: z.enum(['continue', 'review']).default('continue').describe('What the task does when all of them have ended.'),
  agents: z
    .array(Name)
    .max(20)
    .optional()
    .describe('Other agents of the settings to which subtasks may be given; only the task’s own if left out.'),
})
export type SubtaskLimits = z.infer<typeof SubtaskLimits>

/** The recorded run that a task is a replay of. */
export const ReplayOf = z.object({
  run: RunId,
  until: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('The last call that is answered from the recording; all of them if left out.'),
  /** The agent is told something else than in the recorded run. */
  hasOtherPrompt: z.boolean().optional(),
  /** The model is another one. */
  hasOtherModel: z.boolean().optional(),
})
export type ReplayOf = z.infer<typeof ReplayOf>

/**
 * What a task says about itself beside its prompt, agent and place. Stored whole with the task, so every run of it, resumed or not, is held to the same.
 * Model, budget, timeout and retry policy are not here: they are decided into the task's own `agent_config`.
 */
export const TaskSpec = z.object({
  /** The workspace, or a context folder, may be a home folder. */
  allowHome: z.boolean().optional(),
  contextDirs: z.array(z.string()).optional(),
  /** Those of `contextDirs` that may be written too. */
  writableDirs: z.array(z.string()).optional(),
  mounts: z.array(TaskMount).optional(),
  allowedTools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  appendSystemPrompt: z.string().optional(),
  /** The template of the system prompt, in the place of the agent's own. */
  role: z.string().optional(),
  skipPlanning: z.boolean().optional(),
  review: z.boolean().optional(),
  checks: Checks.optional(),
  /** At most one run, ever: nothing of it is tried again by Pawl itself, not even after a crash. */
  once: z.boolean().optional(),
  /** It also starts after a task that did only a part of its work, or said nothing. */
  acceptPartial: z.boolean().optional(),
  /** Agents that go on with the conversation while the account of the one before is at its limit; resolved when the task was made. */
  failover: z.array(ResolvedAgent).optional(),
  questions: QuestionPolicy.optional(),
  subtasks: SubtaskLimits.optional(),
  /** What its runs ask of models is kept, and what they need to be run again. */
  record: z.boolean().optional(),
  replay: ReplayOf.optional(),
  /** Files that its agent is given beside the prompt. */
  attachments: z.array(Attachment).optional(),
  /** The span of whoever asked for it, or for the topmost task above it. */
  trace: (z.object({ traceparent: z.string(), tracestate: z.string().optional() }) satisfies z.ZodType<TraceContext>).optional(),
})
export type TaskSpec = z.infer<typeof TaskSpec>
