import { createRoute, z } from '@hono/zod-openapi'
import { scheduleWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { Name } from '../../../domain/id.ts'
import { NewSchedule, ScheduleChanges, ScheduleSummary, ScheduleView, TaskTemplate } from '../../../domain/schedule/schedule.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Schedule = z.object(ScheduleView.shape).openapi('Schedule')
const Summary = z.object(ScheduleSummary.shape).openapi('ScheduleSummary')
const New = strict({ ...NewSchedule.shape, task: strict(TaskTemplate.shape) }).openapi('NewSchedule')
const Changes = strict({ ...ScheduleChanges.shape, task: strict(TaskTemplate.partial().shape).optional() }).openapi(
  'ScheduleChanges',
)

const SchedulePath = z.object({ id: Name.describe('The id of the schedule, or its name.') })
const nothing = strict({})
const body = <T extends z.ZodType>(schema: T) => ({ required: true, content: { 'application/json': { schema } } })

const list = createRoute({
  method: 'get',
  path: `${api}/schedules`,
  ...needs('read'),
  summary: 'All schedules with how they are; those that are due next first.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(Summary), next: z.null() }), 'All of them.'), ...problems },
})

const create = createRoute({
  method: 'post',
  path: `${api}/schedules`,
  ...needs('work'),
  summary: 'Make a schedule. Its task is checked as if it were asked for now.',
  request: { query: nothing, body: body(New) },
  responses: { 201: json(Schedule, 'The schedule.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/schedules/{id}`,
  ...needs('read'),
  summary: 'One schedule with its next times and its last ticks.',
  request: { params: SchedulePath, query: nothing },
  responses: { 200: json(Schedule, 'The schedule.'), ...problems },
})

const change = createRoute({
  method: 'patch',
  path: `${api}/schedules/{id}`,
  ...needs('work'),
  summary: 'Change a schedule. Whoever does so owns it from then on.',
  request: { params: SchedulePath, query: nothing, body: body(Changes) },
  responses: { 200: json(Schedule, 'The schedule as it is now.'), ...problems },
})

const remove = createRoute({
  method: 'delete',
  path: `${api}/schedules/{id}`,
  ...needs('work'),
  summary: 'Remove a schedule with its history. Tasks that it made stay.',
  request: { params: SchedulePath, query: nothing },
  responses: { 204: { description: 'It is gone.' }, ...problems },
})

const act = <V extends 'pause' | 'resume' | 'run'>(verb: V, summary: string) =>
  createRoute({
    method: 'post',
    path: `${api}/schedules/{id}/${verb}` as `${typeof api}/schedules/{id}/${V}`,
    ...needs('work'),
    summary,
    request: { params: SchedulePath, query: nothing, body: { content: { 'application/json': { schema: nothing } } } },
    responses: { 200: json(Schedule, 'The schedule as it is now.'), ...problems },
  })
const pause = act('pause', 'Fire nothing until it is resumed.')
const resume = act('resume', 'Let it go on; nothing of the pause is made up for.')
const run = act('run', 'One tick now, out of turn.')

export function scheduleRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => {
    const items = await runtime.listSchedules()
    return c.json({ items: seesDetail(callerOf(c).standing) ? items : items.map(scheduleWithoutDetail), next: null }, 200)
  })
  app.openapi(create, async (c) => {
    const schedule = await runtime.createSchedule(c.req.valid('json'), callerOf(c))
    return c.json(schedule, 201, { Location: `${api}/schedules/${schedule.id}` })
  })
  app.openapi(show, async (c) => {
    const schedule = await runtime.getSchedule(c.req.valid('param').id)
    return c.json(seesDetail(callerOf(c).standing) ? schedule : scheduleWithoutDetail(schedule), 200)
  })
  app.openapi(change, async (c) =>
    c.json(await runtime.changeSchedule(c.req.valid('param').id, c.req.valid('json'), callerOf(c)), 200),
  )
  app.openapi(remove, async (c) => {
    await runtime.removeSchedule(c.req.valid('param').id, callerOf(c))
    return c.body(null, 204)
  })
  app.openapi(pause, async (c) => c.json(await runtime.pauseSchedule(c.req.valid('param').id, callerOf(c)), 200))
  app.openapi(resume, async (c) => c.json(await runtime.resumeSchedule(c.req.valid('param').id, callerOf(c)), 200))
  app.openapi(run, async (c) => c.json(await runtime.runSchedule(c.req.valid('param').id, callerOf(c)), 200))
}
