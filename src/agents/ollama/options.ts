import { z } from 'zod'

export const OllamaOptions = z.strictObject({
  contextTokens: z
    .int()
    .min(2_048)
    .optional()
    .describe(
      'How many tokens the model holds at once (num_ctx). Left out: what its Modelfile says, else what the model can, at most 32768; more needs more memory.',
    ),
  think: z
    .union([z.boolean(), z.enum(['low', 'medium', 'high'])])
    .optional()
    .describe('Whether, or how long, the model thinks aloud. Left out: as it does by itself.'),
  pull: z.boolean().default(false).describe('Whether a model that the server does not have is pulled when it is first needed.'),
  parameters: z
    .record(z.string(), z.union([z.number(), z.boolean(), z.string(), z.array(z.string())]))
    .refine((parameters) => !('num_ctx' in parameters), 'num_ctx is said by contextTokens')
    .default({})
    .describe('Parameters of the model, for example {"temperature": 0.2}.'),
  repositoryInstructions: z.boolean().default(true).describe('Whether the agent is given the AGENTS.md of the repository.'),
})
export type OllamaOptions = z.infer<typeof OllamaOptions>
