import { z } from 'zod'

/** What happens to a question that nobody answers in time. */
export const AfterDeadline = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('deny') }),
  z.strictObject({ kind: z.literal('proceed'), answer: z.string().min(1).max(65_536) }),
  z.strictObject({ kind: z.literal('escalate'), agent: z.string().optional(), webhook: z.string().optional() }),
  z.strictObject({ kind: z.literal('fail') }),
])
export type AfterDeadline = z.infer<typeof AfterDeadline>

export const QuestionPolicy = z.strictObject({
  deadlineMs: z.number().int().min(1).optional().describe('How long a question waits for its answer; for ever if left out.'),
  afterDeadline: AfterDeadline.default({ kind: 'deny' }),
  mayAnswer: z
    .array(z.string().min(1).max(100))
    .max(50)
    .optional()
    .describe('Users who may answer; everybody who may operate if left out.'),
})
export type QuestionPolicy = z.infer<typeof QuestionPolicy>
