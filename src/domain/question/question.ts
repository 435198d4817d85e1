import { z } from 'zod'

const askedKinds = ['free', 'permission'] as const
/** `go_on`: Pawl itself asks whether a run may go on. */
export const questionKinds = [...askedKinds, 'go_on'] as const
export type QuestionKind = (typeof questionKinds)[number]
export const questionStates = ['pending', 'answered', 'expired', 'cancelled'] as const
export type QuestionState = (typeof questionStates)[number]

/** What an agent may ask. Plain text; options are suggestions, a free answer is always possible. */
export const QuestionAsked = z.strictObject({
  kind: z.enum(askedKinds).default('free'),
  text: z.string().min(1).max(16_384),
  options: z.array(z.string().min(1).max(1024)).max(20).default([]),
  multiSelect: z.boolean().optional().describe('May several of the options be chosen?'),
})
export type QuestionAsked = z.infer<typeof QuestionAsked>

/** One exact call of a tool. It is known by the digest of its input. */
export interface ExactCall {
  readonly tool: string
  readonly inputDigest: string
  /** The input as people are shown it: without secrets, and only the beginning of one that is very long. */
  readonly input?: string | undefined
}

export const Answer = z.string().min(1).max(65_536)

/** How somebody answers: in words, by the numbers of options (the first is 1), or both. */
export const AnswerGiven = z.strictObject({
  answer: Answer.optional(),
  options: z.array(z.number().int().min(1).max(20)).min(1).max(20).optional().describe('Numbers of options; the first is 1.'),
  digest: z
    .string()
    .max(100)
    .optional()
    .describe('The digest of the question as it was shown. Refused if the question says something else.'),
})
export type AnswerGiven = z.infer<typeof AnswerGiven>
