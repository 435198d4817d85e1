import { z } from 'zod'
import { Budget } from '../agent/agent-config.ts'
import { RunId, TaskId } from '../id.ts'

const Time = z.iso.datetime()

export const RecordingSummary = z.object({
  run: RunId,
  task: TaskId,
  agent: z.string(),
  state: z
    .enum(['open', 'whole', 'cut'])
    .describe('`open` while its run goes on; `cut` if it was stopped, or its run was lost, before the end.'),
  calls: z.number().describe('How often a model was asked.'),
  bytes: z.number(),
  canReplay: z.boolean().describe('Its starting workspace was kept, and calls were recorded.'),
  stopped: z.string().nullable().describe('Why it does not go to the end.'),
  begunAt: Time,
  endedAt: Time.nullable(),
})
export type RecordingSummary = z.infer<typeof RecordingSummary>

export const RecordingView = RecordingSummary.extend({
  model: z.string().nullable(),
  workspace: z.object({ files: z.number(), bytes: z.number() }).nullable(),
  items: z.array(
    z.object({
      number: z.number(),
      atMs: z.number(),
      method: z.string(),
      path: z.string(),
      model: z.string().nullable(),
      messages: z.number().nullable().describe('How many the request held.'),
      status: z.number().nullable().describe('Null if no answer came.'),
      durationMs: z.number().nullable(),
      whole: z.boolean(),
    }),
  ),
})
export type RecordingView = z.infer<typeof RecordingView>

const attended = z.boolean().optional().describe('Somebody sits at a terminal and watches.')

export const NewReplay = z.strictObject({
  until: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('The last call that is answered from the recording; the rest goes to a provider and costs.'),
  prompt: z.string().min(1).optional().describe('Told to the agent instead of what it was told.'),
  attended,
})
export type NewReplay = z.infer<typeof NewReplay>

export const NewFork = z.strictObject({
  at: z.number().int().min(1).describe('The first call that goes to a provider.'),
  model: z.string().min(1).max(200).describe('Which goes on from there.'),
  budget: Budget.pick({ usd: true, tokens: true, turns: true, wallMs: true, perRunUsd: true }).strict().optional(),
  attended,
})
export type NewFork = z.infer<typeof NewFork>

export const ReplayReport = z.object({
  task: TaskId,
  run: RunId,
  of: RunId,
  until: z.number().nullable(),
  identical: z
    .boolean()
    .describe(
      'Every call that was to be replayed was asked for alike, and what happened is the same but for ids, times and places.',
    ),
  calls: z.object({ recorded: z.number(), replayed: z.number(), live: z.number(), missing: z.array(z.number()) }),
  divergence: z
    .object({
      call: z.number().optional(),
      method: z.string(),
      path: z.string(),
      at: z.string().optional(),
      recorded: z.string().optional(),
      asked: z.string().optional(),
    })
    .nullable()
    .describe('Where the run first asked for something else.'),
  events: z.object({
    recorded: z.number(),
    replayed: z.number(),
    difference: z
      .object({ number: z.number(), at: z.string(), recorded: z.string(), replayed: z.string() })
      .nullable()
      .describe('The first that is not the same; not looked for where calls went to a provider.'),
  }),
  costUsd: z.number().nullable().describe('Of calls that went to a provider; null if nobody knows.'),
  says: z.string().describe('The same in a sentence.'),
})
export type ReplayReport = z.infer<typeof ReplayReport>
