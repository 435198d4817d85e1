import { z } from 'zod'

const Time = z.iso.datetime()

/** An account of a model provider that is at a limit. Tasks of all agents that use it wait. */
export const LimitView = z.object({
  account: z.string().describe('The program, the endpoint and where the key comes from; never the key.'),
  agents: z.array(z.string()).describe('Agents that are known to use it.'),
  kind: z.enum(['usage_limit', 'rate_limited', 'overloaded']),
  until: Time.describe('Nothing of it starts before. Then one task goes first, and the others when that one has worked.'),
  checking: z.boolean().describe('One task is trying whether the limit is over.'),
  why: z.string().describe('What the provider said.'),
  times: z.number().describe('How often in a row it was met.'),
  since: Time,
  waiting: z.number().describe('How many tasks wait for it.'),
})
export type LimitView = z.infer<typeof LimitView>
