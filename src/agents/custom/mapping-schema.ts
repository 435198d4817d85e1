import { z } from 'zod'

const Path = z
  .string()
  .regex(/^[^.]+(\.[^.]+)*$/, 'a path names fields with dots between them, like message.text; * is every item')

/** Where in the program's JSON its answer and the facts about it lie. Of numbers and ids the last one counts. */
export const Mapping = z.strictObject({
  text: Path.optional().describe('What the agent says.'),
  textWhere: z
    .record(Path, z.string())
    .optional()
    .describe('What other fields must hold for that, like {type: assistant}: what tools say is not what the agent says.'),
  partial: Path.optional().describe(
    'A piece of what the agent is saying, for those who watch; the whole comes at `text`, in jsonl.',
  ),
  partialWhere: z.record(Path, z.string()).optional().describe('What other fields must hold for that, like {type: delta}.'),
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
