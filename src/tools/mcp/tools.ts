import { z } from 'zod'
import { didYouMean } from '../../domain/base/nearest.ts'
import { PawlError } from '../../domain/error.ts'
import { QuestionAsked } from '../../domain/question/question.ts'
import { type Tool, tool } from '../base/tool.ts'

/** What every run is offered. */
export const tools: readonly Tool[] = [
  tool({
    name: 'ask_user',
    description:
      'Ask the person who gave you this task something that only they can decide. The question is stored and reaches them even if they are away. ' +
      'If they are there, the result of this tool is their answer. If it says that the question was passed on, end your turn: the answer comes as your next message. So ask one thing at a time, with all they need to know to decide.',
    input: z.strictObject({
      question: QuestionAsked.shape.text.describe('The question, in plain text.'),
      options: z
        .array(z.string().min(1).max(1024))
        .max(20)
        .optional()
        .describe('Answers to suggest. The person may always answer something else.'),
      multiSelect: z.boolean().optional().describe('May several of the options be chosen?'),
    }),
    async run({ question, options = [], multiSelect }, verbs) {
      const answers = await verbs.consult([{ kind: 'free', text: question, options, multiSelect }])
      if (answers) return `The user answered: ${answers[0]}`
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

export function toolNamed(name: string, offered: readonly Tool[] = tools): Tool {
  const found = offered.find((tool) => tool.name === name)
  if (found) return found
  const names = offered.map((tool) => tool.name)
  throw new PawlError('not_found', `There is no tool "${name}"${didYouMean(name, names)} There are: ${names.join(', ')}.`)
}
