import { z } from 'zod'

const Argument = z.string().refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')

export const OpencodeOptions = z.strictObject({
  command: Argument.min(1).default('opencode').describe('The program: a name on the search path, or a path.'),
  args: z.array(Argument).default([]).describe('Arguments after the generated ones, for example ["--log-level", "DEBUG"].'),
  transport: z
    .enum(['auto', 'acp', 'run'])
    .default('auto')
    .describe(
      'How to speak to it. auto: acp, or run for a version that is too old for it. run starts it anew for each turn and can ask nobody.',
    ),
  wire: z.enum(['openai-chat', 'anthropic']).default('openai-chat').describe('The format in which it asks for its model.'),
  contextTokens: z
    .int()
    .positive()
    .optional()
    .describe(
      'How much the model can be shown at once. Given, the program shortens the conversation by itself before that is reached.',
    ),
  outputTokens: z.int().positive().optional().describe('The most that the model answers at once.'),
  repositoryInstructions: z.boolean().default(true).describe('Whether the agent is given the AGENTS.md of the repository.'),
})
export type OpencodeOptions = z.infer<typeof OpencodeOptions>
