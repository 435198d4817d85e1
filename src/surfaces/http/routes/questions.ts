import { createRoute, z } from '@hono/zod-openapi'
import { QuestionId, TaskId } from '../../../domain/id.ts'
import { AnswerGiven, questionStates } from '../../../domain/question/question.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const list = createRoute({
  method: 'get',
  path: `${api}/questions`,
  ...needs('read'),
  summary: 'Questions of agents.',
  request: {
    query: strict({
      state: z.enum(questionStates).optional(),
      task: TaskId.optional(),
      since: z.iso.datetime({ offset: true }).optional().openapi({ description: 'Asked, answered or over since then.' }),
    }),
  },
  responses: { 200: json(z.object({ items: z.array(schemas.Question), next: z.null() }), 'All that match.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/questions/{id}`,
  ...needs('read'),
  summary: 'One question.',
  request: { params: z.object({ id: QuestionId }), query: strict({}) },
  responses: { 200: json(schemas.Question, 'The question.'), ...problems },
})

const answer = createRoute({
  method: 'post',
  path: `${api}/questions/{id}/answer`,
  ...needs('work'),
  summary:
    'Answer a question, in words or by the numbers of its options; its task goes on. It counts once: the same answer again is fine, another one is refused, and so is one for another `digest`.',
  request: {
    params: z.object({ id: QuestionId }),
    query: strict({}),
    body: { required: true, content: { 'application/json': { schema: strict(AnswerGiven.shape) } } },
  },
  responses: { 200: json(schemas.Question, 'The question, answered.'), ...problems },
})

export function questionRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listQuestions(c.req.valid('query')), next: null }, 200))
  app.openapi(show, async (c) => c.json(await runtime.getQuestion(c.req.valid('param').id), 200))
  app.openapi(answer, async (c) =>
    c.json(await runtime.answerQuestion(c.req.valid('param').id, c.req.valid('json'), callerOf(c)), 200),
  )
}
