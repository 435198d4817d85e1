import { z } from 'zod'
import { tool } from '../base/tool.ts'
import type { StrictParts } from './strict-parts.ts'

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
      'Ask the person who gave you this task one to four questions that only they can decide. If they are there, the result of this tool has their answers. If it says that the questions were passed on, end your turn: the answers come as your next message.',
    input: z.strictObject({ questions: z.array(Question).min(1).max(4).describe('The questions.') }),
    async run({ questions }, verbs) {
      await gate('AskUserQuestion', { questions })
      const answers = await verbs.consult(
        questions.map(({ question, header, options = [], multiSelect }) => ({
          kind: 'free' as const,
          text: `${header ? `${header}: ` : ''}${question}`,
          options: options.map(({ label, description }) => (description ? `${label}: ${description}` : label)),
          multiSelect,
        })),
      )
      if (answers) return questions.map(({ question }, index) => `${question}\nThe user answered: ${answers[index]}`).join('\n\n')
      return 'The questions were stored and passed on to the user. The answer will come as the next message. End your turn now.'
    },
  })
