import { createRoute, z } from '@hono/zod-openapi'
import { notificationWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { NotificationId, TaskId } from '../../../domain/id.ts'
import { NotificationTest, NotificationView, notificationStates } from '../../../domain/notification/notification.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, strict } from '../schemas.ts'

const schemas = {
  Notification: z.object(NotificationView.shape).openapi('Notification'),
  NotificationTest: z.object(NotificationTest.shape).openapi('NotificationTest'),
}
const nothing = strict({})
const target = z.string().min(1).max(100)
const retried = json(z.object({ retried: z.array(NotificationId) }), 'Which are sent again.')

const list = createRoute({
  method: 'get',
  path: `${api}/notifications`,
  ...needs('read'),
  summary: 'What others were told or are to be told, newest first.',
  request: {
    query: strict({
      state: z.enum(notificationStates).optional(),
      target: target.optional(),
      task: TaskId.optional(),
      limit: z.coerce.number().int().min(1).max(200).optional(),
      cursor: z.string().max(20).optional(),
    }),
  },
  responses: { 200: json(pageOf(schemas.Notification), 'One page.'), ...problems },
})

const retryAll = createRoute({
  method: 'post',
  path: `${api}/notifications/retry`,
  ...needs('work'),
  summary: 'Send what was given up once more: all of it, or that of one target.',
  request: {
    query: nothing,
    body: { content: { 'application/json': { schema: strict({ target: target.optional() }) } } },
  },
  responses: { 200: retried, ...problems },
})

const retry = createRoute({
  method: 'post',
  path: `${api}/notifications/{id}/retry`,
  ...needs('work'),
  summary: 'Send one once more: one that was given up, or one that waits for its next try.',
  request: { params: z.object({ id: NotificationId }), query: nothing },
  responses: { 200: retried, ...problems },
})

const test = createRoute({
  method: 'post',
  path: `${api}/notification-tests`,
  ...needs('administer'),
  summary: 'Send a made-up notification to a target now, and tell what came of it.',
  request: { query: nothing, body: { required: true, content: { 'application/json': { schema: strict({ target }) } } } },
  responses: { 200: json(schemas.NotificationTest, 'What came of it; also where it was not delivered.'), ...problems },
})

export function notificationRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => {
    const { items, next } = await runtime.listNotifications(c.req.valid('query'))
    return c.json({ items: seesDetail(callerOf(c).standing) ? items : items.map(notificationWithoutDetail), next }, 200)
  })
  app.openapi(retryAll, async (c) => {
    const { target } = c.req.valid('json')
    return c.json(await runtime.retryNotifications({ target }, callerOf(c)), 200)
  })
  app.openapi(retry, async (c) => c.json(await runtime.retryNotifications(c.req.valid('param'), callerOf(c)), 200))
  app.openapi(test, async (c) => c.json(await runtime.testNotification(c.req.valid('json').target, callerOf(c)), 200))
}
