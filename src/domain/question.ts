import { z } from 'zod'

export const questionKinds = ['free', 'permission'] as const
export const questionStates = ['pending', 'answered', 'expired', 'cancelled'] as const
export type QuestionState = (typeof questionStates)[number]

/** What an agent may ask. Plain text; options are suggestions, a free answer is always possible. */
export const QuestionAsked = z.strictObject({
  kind: z.enum(questionKinds).default('free'),
  text: z.string().min(1).max(16_384),
  options: z.array(z.string().min(1).max(1024)).max(20).default([]),
})
export type QuestionAsked = z.infer<typeof QuestionAsked>

export const Answer = z.string().min(1).max(65_536)
