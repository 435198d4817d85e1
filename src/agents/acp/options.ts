import { z } from 'zod'
import { wireNames } from '../../domain/models.ts'

const Argument = z.string().refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL character')
const Flag = Argument.regex(/^-/, 'a flag begins with a dash, like --model or -m')
const Variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable, like OPENAI_API_KEY')
const HomePath = z
  .string()
  .regex(/^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^\0]+$/, 'must be a path inside the home of the session, like .agent/{session}.jsonl')
  .refine((path) => path.includes('{session}'), 'must hold {session}, which stands for the id of the conversation')

const commandRule = 'must be a list of the program and its arguments, for example [gemini, --acp]'

export const AcpOptions = z.strictObject({
  command: z
    .union([z.string().regex(/^[^\s\0]+$/), z.array(Argument).min(1)], { error: commandRule })
    .describe('The program, or a list of the program and its fixed arguments. No shell reads them.'),
  baseArgs: z
    .array(Argument)
    .default([])
    .describe('Arguments that make it speak the protocol, whichever program is named by command.'),
  authMethod: z.string().min(1).optional().describe('The method by which it is let in, of those that it offers.'),
  mode: z.string().min(1).optional().describe('The mode to begin in, of those that it offers.'),
  load: z
    .boolean()
    .default(true)
    .describe(
      'Whether a conversation of an earlier process is gone on with where the program offers that; else it is told again.',
    ),
  serve: z
    .array(z.enum(['files', 'terminals']))
    .default([])
    .describe('What of the client is offered to it, for programs that cannot read, write or run by themselves.'),
  modelFlag: Flag.optional().describe(
    'The flag that carries the model. Without it, and without modelVariable, it is chosen in the protocol.',
  ),
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
  systemPromptVia: z
    .enum(['prefix', 'meta'])
    .default('prefix')
    .describe(
      'prefix: before the first prompt; meta: as systemPrompt.append in the _meta of session/new, which some programs read.',
    ),
  sessionFiles: z
    .array(HomePath)
    .min(1)
    .optional()
    .describe(
      'Where the file of a conversation lies in the home, {session} standing for its id and * for any name: then it is archived.',
    ),
  versionArgs: z.array(Argument).optional().describe('Arguments that make the program print its version.'),
  install: z.string().min(1).optional().describe('The command that installs the program.'),
})
export type AcpOptions = z.infer<typeof AcpOptions>

/** The program and its fixed arguments. */
export const wordsOf = ({ command }: Pick<AcpOptions, 'command'>): readonly string[] =>
  typeof command === 'string' ? [command] : command
