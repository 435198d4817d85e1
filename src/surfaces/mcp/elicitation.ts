import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { visibleExactly } from '../../domain/base/visible.ts'
import type { AnswerGiven } from '../../domain/question/question.ts'
import type { QuestionView } from '../../domain/view/view.ts'

/** A question of ours as a form that a client shows to a person. Options are suggestions: an answer in words is always possible. */
export function formOf(question: QuestionView): ElicitRequestFormParams {
  const { text, options, multiSelect, call } = question
  const choices = [...new Set(options)]
  const words = { type: 'string' as const, title: choices.length > 0 ? 'Or in your own words' : 'Answer', maxLength: 65_536 }
  return {
    mode: 'form',
    // Clients draw what they get.
    message: visibleExactly(call?.input === undefined ? text : `${text}\n\n${call.tool}: ${call.input}`),
    requestedSchema: {
      type: 'object',
      properties:
        choices.length === 0
          ? { answer: words }
          : {
              choice: multiSelect
                ? { type: 'array', title: 'Answer', items: { type: 'string', enum: choices } }
                : { type: 'string', title: 'Answer', enum: choices },
              answer: words,
            },
      ...(choices.length === 0 ? { required: ['answer'] } : {}),
    },
  }
}

const Response = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .looseObject({
      answer: z.string().max(65_536).optional(),
      choice: z.union([z.string(), z.array(z.string())]).optional(),
    })
    .optional(),
})

/** What the person said to it. Undefined if they would not say, or if what the client sent is no answer to this question. */
export function answerOf(question: QuestionView, response: unknown): AnswerGiven | undefined {
  const parsed = Response.safeParse(response)
  if (!parsed.success || parsed.data.action !== 'accept') return undefined
  const { answer = '', choice = [] } = parsed.data.content ?? {}
  const chosen = (Array.isArray(choice) ? choice : [choice]).filter((text) => text !== '')
  const numbers = chosen.map((text) => question.options.indexOf(text) + 1)
  if (numbers.includes(0)) return undefined
  if (numbers.length === 0 && answer.trim() === '') return undefined
  return {
    ...(answer.trim() === '' ? {} : { answer }),
    ...(numbers.length === 0 ? {} : { options: numbers }),
    digest: question.digest,
  }
}
