import { z } from 'zod'
import { PawlError } from '../domain/error.ts'
import { didYouMean } from '../domain/nearest.ts'
import { QuestionAsked } from '../domain/question.ts'
import { refusalOf } from './refusal.ts'

/** What the engine does for the tools of the run that calls them. A resolved promise means: it is stored. */
export interface ToolVerbs {
  ask(question: QuestionAsked): Promise<{ id: string }>
  /** A message to the user beside the answer. */
  notify(text: string): Promise<void>
}

/** A tool as the model sees it, and what it does. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
  /** The text for the model. Refuses input that does not fit with a sentence that says how it should be. */
  call(input: unknown, verbs: ToolVerbs): Promise<string>
}

export const tools: readonly Tool[] = [
  tool({
    name: 'ask_user',
    description:
      'Ask the person who gave you this task something that only they can decide. The question is stored and reaches them even if they are away. ' +
      'There is no answer in the result of this tool: the answer comes as your next message. So ask one thing at a time, with all they need to know to decide, and end your turn after it.',
    input: z.strictObject({
      question: QuestionAsked.shape.text.describe('The question, in plain text.'),
      options: z
        .array(z.string().min(1).max(1024))
        .max(20)
        .optional()
        .describe('Answers to suggest. The person may always answer something else.'),
    }),
    async run({ question, options = [] }, verbs) {
      await verbs.ask({ kind: 'free', text: question, options })
      return 'The question was stored and passed on to the user. The answer will come as the next message. End your turn now.'
    },
  }),
  tool({
    name: 'send_message_to_user',
    description:
      'Send the person who gave you this task a message beside your final answer, for example progress on long work or something they should know at once. ' +
      'Nobody answers it and your turn goes on. To ask something, use ask_user.',
    input: z.strictObject({ message: z.string().min(1).max(65_536).describe('The message, in plain text or Markdown.') }),
    async run({ message }, verbs) {
      await verbs.notify(message)
      return 'sent'
    },
  }),
]

export function toolNamed(name: string): Tool {
  const found = tools.find((tool) => tool.name === name)
  if (found) return found
  const names = tools.map((tool) => tool.name)
  throw new PawlError('not_found', `There is no tool "${name}"${didYouMean(name, names)} There are: ${names.join(', ')}.`)
}

function tool<Shape extends z.ZodRawShape>(definition: {
  name: string
  description: string
  input: z.ZodObject<Shape, z.core.$strict>
  run(input: z.infer<z.ZodObject<Shape, z.core.$strict>>, verbs: ToolVerbs): Promise<string>
}): Tool {
  const { name, description, input, run } = definition
  // Programs hand this on to models; some of these refuse a schema that names its dialect.
  const { $schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    async call(given, verbs) {
      const parsed = input.safeParse(given)
      if (!parsed.success)
        throw new PawlError('invalid', refusalOf(parsed.error.issues, { tool: name, keys: Object.keys(input.shape) }))
      return run(parsed.data, verbs)
    },
  }
}
