import { z } from 'zod'
import { wireNames } from '../../domain/models.ts'

const noNul = (text: string) => !text.includes('\0')
const Argument = z.string().refine(noNul, 'an argument cannot hold a NUL character')
const Flag = Argument.regex(/^-/, 'a flag begins with a dash, like --model or -m')
const Path = z.string().regex(/^[^.]+(\.[^.]+)*$/, 'a path names fields with dots between them, like message.text')

/** Where in the program's JSON its answer and the facts about it lie. Of numbers and ids the last one counts. */
export const Mapping = z.strictObject({
  text: Path.optional().describe('What the agent says.'),
  result: Path.optional().describe(
    'The final answer, in jsonl. Once named, a run without it is not a success; the first one counts.',
  ),
  session: Path.optional().describe("The program's own id of the conversation."),
  error: Path.optional().describe('Something here that is not null, false or empty means that the run failed.'),
  costUsd: Path.optional(),
  inputTokens: Path.optional(),
  outputTokens: Path.optional(),
})
export type Mapping = z.infer<typeof Mapping>

export const CustomOptions = z
  .strictObject({
    command: z
      .array(Argument, { error: 'must be a list of the program and its arguments, for example [./agent, --batch]' })
      .min(1)
      .describe('The program and its fixed arguments. No shell reads them.'),
    args: z.array(Argument).default([]).describe('Arguments after the generated flags and before the prompt.'),
    prompt: z.enum(['stdin', 'file', 'flag', 'arg']).default('stdin').describe('How the program gets its prompt.'),
    promptFlag: Flag.optional().describe('The flag that carries the prompt, with prompt: flag.'),
    output: z.enum(['text', 'json', 'jsonl']).default('text').describe('What the program prints.'),
    map: Mapping.optional().describe('Where the answer lies in json or jsonl output.'),
    modelFlag: Flag.optional(),
    wire: z
      .enum(wireNames)
      .optional()
      .describe('The format in which it asks for its model, at PAWL_MODEL_URL with PAWL_MODEL_KEY as its key.'),
    systemPromptFlag: Flag.optional(),
    toleratedExitCodes: z.array(z.number().int().min(1).max(255)).default([]).describe('Exit codes that count like 0.'),
    versionArgs: z.array(Argument).optional().describe('Arguments that make the program print its version.'),
  })
  .superRefine((options, refuse) => {
    const say = (path: string, message: string) => refuse.addIssue({ code: 'custom', path: [path], message })
    if (options.command[0] === '') say('command', 'the program has no name')
    if (options.prompt === 'flag' && !options.promptFlag) say('promptFlag', 'prompt: flag needs promptFlag, like --prompt')
    if (options.prompt !== 'flag' && options.promptFlag) say('promptFlag', 'promptFlag is used with prompt: flag only')
    if (options.output === 'text' && options.map) say('map', 'map is used with output: json or output: jsonl only')
    if (options.output === 'json' && options.map?.result) say('map', 'map.result is for output: jsonl; name map.text instead')
    if (options.output === 'jsonl' && !options.map?.text && !options.map?.result) {
      say('map', 'output: jsonl needs map.text or map.result, which say where the answer lies in a line')
    }
  })
export type CustomOptions = z.infer<typeof CustomOptions>
