import { createRoute, z } from '@hono/zod-openapi'
import { seesDetail, withoutDetail } from '../../../domain/auth/detail.ts'
import { SessionId } from '../../../domain/id.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, schemas, strict } from '../schemas.ts'

const SessionPath = z.object({ id: SessionId })
const nothing = strict({})

const list = createRoute({
  method: 'get',
  path: `${api}/sessions`,
  ...needs('read'),
  summary: 'Sessions, newest first.',
  request: {
    query: strict({
      agent: z.string().max(64).optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      cursor: z.string().max(500).optional().openapi({ description: 'The `next` of an earlier page.' }),
    }),
  },
  responses: { 200: json(pageOf(schemas.SessionSummary), 'A page of sessions.'), ...problems },
})

const create = createRoute({
  method: 'post',
  path: `${api}/sessions`,
  ...needs('work'),
  summary: 'Begin a conversation in which nothing is said yet.',
  request: {
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.NewSession } } },
  },
  responses: { 201: json(schemas.Session, 'The session; give its id to a task to speak in it.'), ...problems },
})

const adopt = createRoute({
  method: 'post',
  path: `${api}/sessions/adopt`,
  ...needs('work'),
  summary: 'Make a session of a conversation that was begun in the agent program itself.',
  request: {
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.SessionAdoption } } },
  },
  responses: { 201: json(schemas.Session, 'The session; give its id to a task to go on with it.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/sessions/{id}`,
  ...needs('read'),
  summary: 'One session with its tasks.',
  request: { params: SessionPath, query: nothing },
  responses: { 200: json(schemas.Session, 'The session.'), ...problems },
})

const choose = createRoute({
  method: 'put',
  path: `${api}/sessions/{id}/choices`,
  ...needs('work'),
  summary: 'Keep what the next tasks of a session are to be done with, for whoever speaks in it next. Nothing is held to it.',
  request: {
    params: SessionPath,
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.SessionChoice } } },
  },
  responses: { 200: json(schemas.Session, 'The session.'), ...problems },
})

const stop = createRoute({
  method: 'post',
  path: `${api}/sessions/{id}/stop`,
  ...needs('work'),
  summary: 'Stop whatever runs on a session now. Tasks that wait stay; if none runs, nothing is done.',
  request: {
    params: SessionPath,
    query: nothing,
    body: { content: { 'application/json': { schema: strict({ now: z.boolean().default(false) }) } } },
  },
  responses: { 200: json(schemas.SessionStop, 'What was stopped.'), ...problems },
})

export function sessionRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json(await runtime.listSessions(c.req.valid('query')), 200))
  app.openapi(create, async (c) => {
    const session = await runtime.createSession(c.req.valid('json'), callerOf(c))
    return c.json(session, 201, { Location: `${api}/sessions/${session.id}` })
  })
  app.openapi(adopt, async (c) => {
    const session = await runtime.adoptSession(c.req.valid('json'), callerOf(c))
    return c.json(session, 201, { Location: `${api}/sessions/${session.id}` })
  })
  app.openapi(show, async (c) => {
    const session = await runtime.getSession(c.req.valid('param').id)
    const isWhole = seesDetail(callerOf(c).standing)
    return c.json(isWhole ? session : { ...session, tasks: session.tasks.map(withoutDetail) }, 200)
  })
  app.openapi(choose, async (c) => {
    const session = await runtime.chooseForSession(c.req.valid('param').id, c.req.valid('json'), callerOf(c))
    const isWhole = seesDetail(callerOf(c).standing)
    return c.json(isWhole ? session : { ...session, tasks: session.tasks.map(withoutDetail) }, 200)
  })
  app.openapi(stop, async (c) => {
    const { now = false } = c.req.valid('json')
    return c.json(await runtime.stopSession(c.req.valid('param').id, { ...callerOf(c), now }), 200)
  })
}
