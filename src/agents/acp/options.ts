import { z } from 'zod'
import { Argument, checkProgram, commandLine, Flag, homePath, programOptions } from '../shared/program-options.ts'

const HomePath = homePath('.agent/{session}.jsonl').refine(
  (path) => path.includes('{session}'),
  'must hold {session}, which stands for the id of the conversation',
)

export const AcpOptions = z
  .strictObject({
    command: commandLine('[gemini, --acp]'),
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
    ...programOptions,
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
  })
  .superRefine(checkProgram)
export type AcpOptions = z.infer<typeof AcpOptions>
