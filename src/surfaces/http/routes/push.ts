import { createRoute, z } from '@hono/zod-openapi'
import { PushId } from '../../../domain/id.ts'
import { NotificationTest } from '../../../domain/notification/notification.ts'
import { NewPush, PushState, PushView } from '../../../domain/notification/push.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  Push: z.object(PushView.shape).openapi('Push'),
  PushTest: z.object(NotificationTest.shape).openapi('PushTest'),
}
const PushPath = z.object({ id: PushId })
const nothing = strict({})

const show = createRoute({
  method: 'get',
  path: `${api}/push`,
  ...needs('self'),
  summary: 'The key that a browser subscribes with, and the browsers of yours that are told what happens.',
  request: { query: nothing },
  responses: {
    200: json(z.object({ ...PushState.shape, items: z.array(schemas.Push) }), 'The key and the browsers.'),
    ...problems,
  },
})

const subscribe = createRoute({
  method: 'post',
  path: `${api}/push`,
  ...needs('self'),
  summary: 'Have a browser told (Web Push). The same browser again changes what it wants to hear of.',
  request: { query: nothing, body: { required: true, content: { 'application/json': { schema: strict(NewPush.shape) } } } },
  responses: { 201: json(schemas.Push, 'It is told from now on, until its sign-in ends.'), ...problems },
})

const remove = createRoute({
  method: 'delete',
  path: `${api}/push/{id}`,
  ...needs('self'),
  summary: 'Tell a browser nothing more.',
  request: { params: PushPath, query: nothing },
  responses: { 204: { description: 'It hears nothing more.' }, ...problems },
})

const test = createRoute({
  method: 'post',
  path: `${api}/push/{id}/test`,
  ...needs('self'),
  summary: 'Send a browser a made-up message now, and tell what came of it.',
  request: { params: PushPath, query: nothing },
  responses: { 200: json(schemas.PushTest, 'What came of it; also where it was not delivered.'), ...problems },
})

export function pushRoutes(app: App, { runtime }: Parts): void {
  app.openapi(show, async (c) => c.json(await runtime.getPush(callerOf(c)), 200))
  app.openapi(subscribe, async (c) => c.json(await runtime.subscribePush(c.req.valid('json'), callerOf(c)), 201))
  app.openapi(remove, async (c) => {
    await runtime.removePush(c.req.valid('param').id, callerOf(c))
    return c.body(null, 204)
  })
  app.openapi(test, async (c) => c.json(await runtime.testPush(c.req.valid('param').id, callerOf(c)), 200))
}
