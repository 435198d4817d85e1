import { z } from 'zod'
import { categoryNames } from '../../domain/run/outcome.ts'

/** A card, or what one task says in one piece, is the longest line. */
export const maxLineBytes = 80 * 1024 * 1024

const Id = z.string().min(1).max(1_000)
const Mark = z.object({
  context: Id.optional(),
  task: Id.optional(),
  sent: Id.optional(),
  over: z.boolean().optional(),
  live: Id.optional(),
  said: Id.optional(),
})

/** What the client prints, one JSON object per line. */
export const ClientRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('card'), url: z.string().max(4_096), card: z.unknown(), keys: z.record(z.string(), z.string()) }),
  z.object({ type: z.literal('mark'), mark: Mark }),
  z.object({ type: z.enum(['text', 'piece', 'note']), text: z.string() }),
  z.object({ type: z.literal('asks'), text: z.string(), options: z.array(z.string().max(1_024)).max(20).default([]) }),
  z.object({ type: z.literal('retrying'), detail: z.string(), delayMs: z.number().min(0) }),
  z.object({
    type: z.literal('result'),
    /** `unable`: the remote agent says itself that it failed. */
    status: z.enum(['done', 'rejected', 'canceled', 'unable', 'auth', 'blocked', 'stopped', 'failed']),
    text: z.string(),
    files: z.array(z.string()).optional(),
    mark: Mark.optional(),
    /** Why it failed. */
    code: z.enum(categoryNames).optional(),
    message: z.string().optional(),
    retryAfterMs: z.number().positive().max(1e11).optional(),
  }),
])
export type ClientRecord = z.infer<typeof ClientRecord>
export type ClientResult = Extract<ClientRecord, { type: 'result' }>
