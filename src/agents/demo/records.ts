import { z } from 'zod'

/** What the demo program prints, one JSON object per line. `program.js` writes it, `agent.ts` reads it. */
export const DemoRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string().max(1024) }),
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool'), id: z.string().max(1024), name: z.string().max(1024), input: z.unknown() }),
  z.object({ type: z.literal('tool_result'), id: z.string().max(1024), output: z.string(), isError: z.boolean() }),
  z.object({ type: z.literal('asked'), id: z.string().max(1024) }),
  z.object({
    type: z.literal('result'),
    text: z.string(),
    isError: z.boolean(),
    /** Why it failed, where Pawl has a word for it. */
    code: z.enum(['session_missing', 'workspace_error', 'bad_config']).optional(),
    usage: z.object({ turns: z.number().int().min(0) }).optional(),
  }),
])
export type DemoRecord = z.infer<typeof DemoRecord>
export type DemoResult = Extract<DemoRecord, { type: 'result' }>
