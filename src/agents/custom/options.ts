import { z } from 'zod'
import { wireNames } from '../../domain/models.ts'
import { checkOptions } from './check-options.ts'
import { Mapping } from './mapping-schema.ts'

const noNul = (text: string) => !text.includes('\0')
const Argument = z.string().refine(noNul, 'an argument cannot hold a NUL character')
const Flag = Argument.regex(/^-/, 'a flag begins with a dash, like --model or -m')
const Variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable, like OPENAI_API_KEY')
const HomePath = z
  .string()
  .regex(/^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^\0]+$/, 'must be a path inside the home of the session, like .config/agent/rules.md')
const Pattern = z
  .string()
  .max(500)
  .refine(
    (source) => groupsOf(source) === 1,
    'must be a regular expression with one group in round brackets, which is what is meant',
  )

const commandRule = 'must be a list of the program and its arguments, for example [./agent, --batch]'

export const CustomOptions = z
  .strictObject({
    command: z
      .union([z.string().regex(/^[^\s\0]+$/), z.array(Argument).min(1)], { error: commandRule })
      .describe('The program, or a list of the program and its fixed arguments. No shell reads them.'),
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
    modelVariable: Variable.optional().describe('A variable that holds the name of the model.'),
    wire: z
      .enum(wireNames)
      .optional()
      .describe('The format in which it asks for its model, at PAWL_MODEL_URL with PAWL_MODEL_KEY as its key.'),
    baseUrlVariable: Variable.optional().describe('The variable in which the program looks for the address of its model.'),
    retries: z
      .boolean()
      .default(false)
      .describe(
        'It asks again by itself, for long and unseen, when its model refuses for a while. With wire, it is then given no reason to: Pawl tries again.',
      ),
    keys: z.array(Variable).default([]).describe('Variables that can hold its key, the preferred one first.'),
    hosts: z.array(z.string().min(1)).optional().describe('Whom the program itself talks to, as network rules.'),
    systemPromptFlag: Flag.optional().describe(
      'The flag that carries the system prompt, or with systemPromptVia: file its file.',
    ),
    systemPromptVia: z
      .enum(['flag', 'file', 'prefix'])
      .optional()
      .describe('How the program gets its system prompt; by flag if systemPromptFlag is set. prefix: before the prompt.'),
    systemPromptPath: HomePath.optional().describe('Where in its home the program looks for such a file by itself.'),
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
      .refine((source) => groupsOf(source) !== undefined, 'must be a regular expression')
      .optional()
      .describe('What it prints when it does not know a conversation that it was to go on with.'),
    homeFiles: z.record(HomePath, z.string()).optional().describe('Files to put into its home before each start, by path.'),
    toleratedExitCodes: z.array(z.number().int().min(1).max(255)).default([]).describe('Exit codes that count like 0.'),
    versionArgs: z.array(Argument).optional().describe('Arguments that make the program print its version.'),
    versionPattern: Pattern.optional().describe('Finds the version in the first line that it then prints.'),
    install: z.string().min(1).optional().describe('The command that installs the program.'),
  })
  .superRefine(checkOptions)
export type CustomOptions = z.infer<typeof CustomOptions>

/** The program and its fixed arguments. */
export const wordsOf = ({ command }: Pick<CustomOptions, 'command'>): readonly string[] =>
  typeof command === 'string' ? [command] : command

/** How many groups a regular expression has; undefined if it is none. */
function groupsOf(source: string): number | undefined {
  try {
    return new RegExp(`${source}|`, 'u').exec('')!.length - 1
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
