import { createRoute, z } from '@hono/zod-openapi'
import { QuestionId, TaskId } from '../../../domain/id.ts'
import { Answer, questionStates } from '../../../domain/question.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const list = createRoute({
  method: 'get',
  path: `${api}/questions`,
  ...needs('read'),
  summary: 'Questions of agents.',
  request: { query: strict({ state: z.enum(questionStates).optional(), task: TaskId.optional() }) },
  responses: { 200: json(z.object({ items: z.array(schemas.Question), next: z.null() }), 'All that match.'), ...problems },
})

const answer = createRoute({
  method: 'post',
  path: `${api}/questions/{id}/answer`,
  ...needs('work'),
  summary: 'Answer a question; its task goes on. The same answer twice is fine.',
  request: {
    params: z.object({ id: QuestionId }),
    query: strict({}),
    body: { required: true, content: { 'application/json': { schema: strict({ answer: Answer }) } } },
  },
  responses: { 200: json(schemas.Question, 'The question, answered.'), ...problems },
})

export function questionRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listQuestions(c.req.valid('query')), next: null }, 200))
  app.openapi(answer, async (c) =>
    c.json(await runtime.answerQuestion(c.req.valid('param').id, c.req.valid('json').answer, callerOf(c)), 200),
  )
}
