import { z } from 'zod'

const Argument = z.string().refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')

export const CodexOptions = z.strictObject({
  command: Argument.min(1).default('codex').describe('The program: a name on the search path, or a path.'),
  args: z
    .array(Argument)
    .default([])
    .describe('Arguments after the generated ones, for example ["-c", "model_verbosity=\\"low\\""].'),
  transport: z
    .enum(['auto', 'app-server', 'exec'])
    .default('auto')
    .describe('How to speak to it. auto: app-server, or exec for a version that is too old for it.'),
  reasoningEffort: z
    .string()
    .regex(/^[a-z]+$/, 'an effort is one word, like low, medium or high')
    .optional()
    .describe('How long the model thinks. Which words are known depends on the model.'),
  reasoningSummary: z.enum(['auto', 'concise', 'detailed', 'none']).optional().describe('How much it tells of its thinking.'),
  approvals: z
    .enum(['untrusted', 'on-request', 'never'])
    .optional()
    .describe(
      'When it asks before it acts, where the profile leaves commands and files free. Left out: never inside walls that hold, untrusted elsewhere. exec can never ask.',
    ),
  webSearch: z.boolean().optional().describe('Whether the model may search the web. Left out: what the program does by itself.'),
  repositoryInstructions: z.boolean().default(true).describe('Whether the agent is given the AGENTS.md of the repository.'),
})
export type CodexOptions = z.infer<typeof CodexOptions>
