import { z } from 'zod'
import type { StrictParts } from './strict-parts.ts'
import { tool } from './tool.ts'

const Option = z.strictObject({ label: z.string().min(1).max(200), description: z.string().max(800).optional() })
const Question = z.strictObject({
  question: z.string().min(1).max(8_192).describe('The question, in plain text.'),
  header: z.string().max(200).optional().describe('A word or two on what it is about.'),
  options: z.array(Option).max(20).optional().describe('Answers to suggest. The person may always answer something else.'),
  multiSelect: z.boolean().optional().describe('May several of the options be chosen?'),
})

export const askUserQuestionTool = ({ gate }: StrictParts) =>
  tool({
    name: 'AskUserQuestion',
    description:
      'Ask the person who gave you this task one to four questions that only they can decide. There is no answer in the result of this tool: it comes as your next message. End your turn after it.',
    input: z.strictObject({ questions: z.array(Question).min(1).max(4).describe('The questions.') }),
    async run({ questions }, verbs) {
      await gate('AskUserQuestion', { questions })
      for (const { question, header, options = [], multiSelect = false } of questions) {
        const text = `${header ? `${header}: ` : ''}${question}${multiSelect ? '\n(Several may be chosen.)' : ''}`
        const labels = options.map(({ label, description }) => (description ? `${label}: ${description}` : label))
        await verbs.ask({ kind: 'free', text, options: labels })
      }
      return 'The questions were stored and passed on to the user. The answer will come as the next message. End your turn now.'
    },
  })
