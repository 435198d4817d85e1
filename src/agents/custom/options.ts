import { z } from 'zod'
import { messageOf } from '../../domain/error.ts'
import type { Category } from '../../domain/run/outcome.ts'
import { Argument, commandLine, Flag, homePath, programOptions, Variable } from '../shared/program-options.ts'
import { checkOptions } from './check-options.ts'
import { Mapping } from './mapping-schema.ts'
import { compilePattern } from './pattern.ts'

const HomePath = homePath('.config/agent/rules.md')
const Pattern = z
  .string()
  .max(500)
  .superRefine(checkPattern)
  .refine(hasOneGroup, 'must be a regular expression with one group in round brackets, which is what is meant')

const FailurePattern = z
  .string()
  .min(1)
  .max(500)
  .superRefine(checkPattern)
  .refine(
    (source) => groupsOf(source) <= 1,
    'may have one group in round brackets, which is the text that names when a limit ends',
  )
const forCategory = z.array(FailurePattern).min(1).max(20).optional()
/** The causes that somebody can declare: what is done about each is the same as for any agent. */
const FailurePatterns = z.strictObject({
  usage_limit: forCategory,
  rate_limited: forCategory,
  overloaded: forCategory,
  network: forCategory,
  auth_failed: forCategory,
  context_overflow: forCategory,
  bad_config: forCategory,
  exit_code: forCategory,
} satisfies Partial<Record<Category, typeof forCategory>>)

/** As most programs write it. Each puts in the variables by itself, so that no token lies in a file. */
export const commonServers = JSON.stringify({
  mcpServers: {
    pawl: {
      type: 'http',
      url: variable('PAWL_DOOR_URL', '/mcp'),
      headers: { Authorization: `Bearer ${variable('PAWL_DOOR_TOKEN')}` },
    },
  },
})

export const CustomOptions = z
  .strictObject({
    command: commandLine('[./agent, --batch]'),
    baseArgs: z
      .array(Argument)
      .default([])
      .describe('Arguments before the generated flags, whichever program is named by command.'),
    args: z.array(Argument).default([]).describe('Arguments after the generated flags and before the prompt.'),
    prompt: z.enum(['stdin', 'file', 'flag', 'arg']).default('stdin').describe('How the program gets its prompt.'),
    promptFlag: Flag.optional().describe('The flag that carries the prompt, with prompt: flag, or its file, with prompt: file.'),
    output: z.enum(['text', 'json', 'jsonl']).default('text').describe('What the program prints.'),
    map: Mapping.optional().describe('Where the answer lies in json or jsonl output.'),
    modelFlag: Flag.optional(),
    modelArg: z.boolean().optional().describe('The model is an argument of its own, after baseArgs.'),
    ...programOptions,
    wireKeys: z
      .array(Variable)
      .min(1)
      .optional()
      .describe(
        'Which of keys hold a key for wire, where the others are for other makers: with one of those it asks past the gateway.',
      ),
    baseUrlPath: z
      .string()
      .regex(/^(?:\/[\w.~/-]*)?$/)
      .optional()
      .describe(
        'What the program wants behind the address that it is given, if that is not /v1 for the formats of OpenAI and nothing for others.',
      ),
    modelPrefix: z
      .string()
      .min(1)
      .optional()
      .describe('What it wants before the name of a model that it asks for at baseUrlVariable, like openai/.'),
    systemPromptFlag: Flag.optional().describe(
      'The flag that carries the system prompt, or with systemPromptVia: file its file.',
    ),
    systemPromptVia: z
      .enum(['flag', 'file', 'prefix'])
      .optional()
      .describe('How the program gets its system prompt; by flag if systemPromptFlag is set. prefix: before the prompt.'),
    systemPromptPath: HomePath.optional().describe('Where in its home the program looks for such a file by itself.'),
    mcp: z
      .strictObject({
        flag: Flag.optional().describe('The flag that names the file.'),
        path: HomePath.optional().describe('Where in its home the program looks for the file by itself.'),
        content: z
          .string()
          .min(1)
          .max(100_000)
          .default(commonServers)
          .describe(
            'The file. The address and the token of our tools are in the variables PAWL_DOOR_URL and PAWL_DOOR_TOKEN. Your own servers are named as our "pawl" is.',
          ),
      })
      .optional()
      .describe('How the program is told of our tools: by a file that names servers of MCP.'),
    sessionId: z
      .strictObject({
        pattern: Pattern.describe('Finds the id in one line; the group in it is the id.'),
        stream: z.enum(['stdout', 'stderr']).describe('The one stream that is looked at.'),
        at: z
          .enum(['start', 'end'])
          .default('start')
          .describe('start: the first match in the first 50 lines; end: the last one in the last 50.'),
      })
      .optional()
      .describe('How the id of the conversation is found where the output is text.'),
    resume: z
      .array(Argument)
      .optional()
      .describe('Arguments that make it go on with a conversation, {session} standing for its id: [--resume, "{session}"].'),
    sessionFiles: z
      .array(HomePath)
      .min(1)
      .optional()
      .describe('Where the file of a conversation lies in the home, {session} standing for its id and * for any name.'),
    missingSession: z
      .string()
      .max(500)
      .superRefine(checkPattern)
      .optional()
      .describe('What it prints when it does not know a conversation that it was to go on with.'),
    failurePatterns: FailurePatterns.optional().describe(
      'What the last lines of a failed run say when its cause is known, by category; a group in a pattern is the text that names when a limit ends. They come before the patterns that Pawl has for any program; exit_code means an ordinary failure.',
    ),
    homeFiles: z.record(HomePath, z.string()).optional().describe('Files to put into its home before each start, by path.'),
    toleratedExitCodes: z.array(z.number().int().min(1).max(255)).default([]).describe('Exit codes that count like 0.'),
    versionPattern: Pattern.optional().describe('Finds the version in the first line that it then prints.'),
  })
  .superRefine(checkOptions)
export type CustomOptions = z.infer<typeof CustomOptions>

function variable(name: string, rest = ''): string {
  return `\${${name}}${rest}`
}

/** Refuses what cannot be matched in linear time, with the reason. */
function checkPattern(source: string, refuse: z.RefinementCtx): void {
  try {
    compilePattern(source)
  } catch (error) {
    refuse.addIssue({ code: 'custom', message: messageOf(error) })
  }
}

function hasOneGroup(source: string): boolean {
  return groupsOf(source) === 1
}

function groupsOf(source: string): number {
  try {
    return compilePattern(source).groups
  } catch {
    // Refused by `checkPattern`, which says why.
    return 1
  }
}
