import { z } from 'zod'

const Argument = z.string().refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')

export const GeminiCliOptions = z.strictObject({
  command: Argument.min(1).default('gemini').describe('The program: a name on the search path, or a path.'),
  args: z.array(Argument).default([]).describe('Arguments after the generated ones, for example ["--debug"].'),
  transport: z
    .enum(['auto', 'acp', 'one-shot'])
    .default('auto')
    .describe(
      'How to speak to it. auto: a new conversation by ACP, so that the process stays for the next turn; one whose process is gone goes on by one-shot calls. acp: by ACP alone; one whose process is gone is told to a new one. one-shot: a process per turn.',
    ),
  maxTurns: z.int().positive().optional().describe('The most turns of one run, for the program to hold itself to.'),
  repositoryInstructions: z
    .boolean()
    .default(true)
    .describe(
      'Whether the agent is given the AGENTS.md of the repository. Its GEMINI.md the program reads by itself, if the profile shows it.',
    ),
})
export type GeminiCliOptions = z.infer<typeof GeminiCliOptions>
