import { z } from 'zod'

const Argument = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')

export const ClaudeCodeOptions = z.strictObject({
  command: Argument.default('claude').describe('The program: a name on the search path, or a path.'),
  allowedTools: z
    .array(Argument)
    .default([])
    .describe(
      'Tools that need no permission, as the program writes them: Bash(git *). Only those that no rule of the profile is about.',
    ),
  disallowedTools: z.array(Argument).default([]).describe('Tools the agent does not have at all.'),
  addDirs: z.array(Argument).default([]).describe('More directories its tools may use, as the agent sees them.'),
  maxTurns: z.int().positive().optional().describe('Model calls that one prompt may take.'),
  thinkingTokens: z.int().min(1024).default(16_000).describe('What a model with the suffix :mode=thinking may think.'),
  repositoryInstructions: z
    .boolean()
    .default(true)
    .describe('Whether the agent is given the CLAUDE.md and AGENTS.md of the repository.'),
  partialMessages: z
    .boolean()
    .default(true)
    .describe(
      'Whether the program tells what the model is saying while it says it, for those who watch; the raw log grows by it.',
    ),
  args: z.array(Argument).default([]).describe('More arguments, after the generated ones.'),
  permissionMode: z
    .never({
      error: 'is not an option: every mode but the default one goes past the rules of the profile; choose a profile instead',
    })
    .optional(),
})
export type ClaudeCodeOptions = z.infer<typeof ClaudeCodeOptions>
