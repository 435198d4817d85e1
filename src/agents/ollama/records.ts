import { z } from 'zod'
import { voices } from '../../domain/event/live-text.ts'
import { categoryNames } from '../../domain/run/outcome.ts'

/** What the loop prints, one JSON object per line. */
export const LoopRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string().max(1024) }),
  z.object({ type: z.enum(['text', 'thinking', 'note']), text: z.string() }),
  z.object({ type: z.literal('piece'), voice: z.enum(voices), text: z.string() }),
  z.object({ type: z.literal('tool'), id: z.string().max(1024), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('tool_result'), id: z.string().max(1024), output: z.string(), isError: z.boolean() }),
  z.object({ type: z.literal('wants'), id: z.string().max(1024), tool: z.string().max(1024), input: z.unknown() }),
  z.object({ type: z.literal('usage'), inputTokens: z.int().min(0), outputTokens: z.int().min(0) }),
  z.object({ type: z.literal('compacted'), tokensBefore: z.number().min(0) }),
  z.object({
    type: z.literal('result'),
    status: z.enum(['done', 'stopped', 'blocked', 'failed']),
    text: z.string(),
    /** Why it failed. */
    code: z.enum(categoryNames).optional(),
    message: z.string().optional(),
    retryAfterMs: z.number().positive().max(1e11).optional(),
  }),
])
export type LoopRecord = z.infer<typeof LoopRecord>
export type LoopResult = Extract<LoopRecord, { type: 'result' }>
