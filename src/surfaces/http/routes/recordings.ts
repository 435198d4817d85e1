import { createRoute, z } from '@hono/zod-openapi'
import { RunId, TaskId } from '../../../domain/id.ts'
import { NewFork, NewReplay, RecordingSummary, RecordingView, ReplayReport } from '../../../domain/view/recording.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict, schemas as taskSchemas } from '../schemas.ts'

const schemas = {
  RecordingSummary: z.object(RecordingSummary.shape).openapi('RecordingSummary'),
  Recording: z.object(RecordingView.shape).openapi('Recording'),
  ReplayReport: z.object(ReplayReport.shape).openapi('ReplayReport'),
}
const nothing = strict({})
const params = z.object({ run: RunId })

const list = createRoute({
  method: 'get',
  path: `${api}/recordings`,
  ...needs('read'),
  summary: 'The recorded runs, newest first.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.RecordingSummary), next: z.null() }), 'At most 500.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/recordings/{run}`,
  ...needs('read'),
  summary: 'What was asked of models in a recorded run, without what was said.',
  request: { params, query: nothing },
  responses: { 200: json(schemas.Recording, 'The recording.'), ...problems },
})

const exported = createRoute({
  method: 'get',
  path: `${api}/recordings/{run}/export`,
  ...needs('administer'),
  summary: 'The recording as a file: all that was asked and answered, one JSON value a line.',
  request: { params, query: nothing },
  responses: {
    200: { description: 'JSON lines.', content: { 'text/plain': { schema: z.string() } } },
    ...problems,
  },
})

const remove = createRoute({
  method: 'delete',
  path: `${api}/recordings/{run}`,
  ...needs('administer'),
  summary: 'Remove a recording for good. Refused while its run goes on.',
  request: { params, query: nothing },
  responses: { 200: json(z.object({ removed: RunId }), 'It is gone.'), ...problems },
})

const replay = createRoute({
  method: 'post',
  path: `${api}/recordings/{run}/replay`,
  ...needs('administer'),
  summary: 'Make a task that does once more what a recorded run did, answered from the recording.',
  request: {
    params,
    query: nothing,
    body: { content: { 'application/json': { schema: strict(NewReplay.shape) } } },
  },
  responses: { 201: json(taskSchemas.Task, 'The task.'), ...problems },
})

const fork = createRoute({
  method: 'post',
  path: `${api}/recordings/{run}/fork`,
  ...needs('administer'),
  summary: 'Make a task that does the same up to a call, from which on another model goes on.',
  request: { params, query: nothing, body: { content: { 'application/json': { schema: strict(NewFork.shape) } } } },
  responses: { 201: json(taskSchemas.Task, 'The task.'), ...problems },
})

const report = createRoute({
  method: 'get',
  path: `${api}/tasks/{task}/replay`,
  ...needs('administer'),
  summary: 'How a replay that has ended compares with the run that it repeats.',
  request: { params: z.object({ task: TaskId }), query: nothing },
  responses: { 200: json(schemas.ReplayReport, 'The report.'), ...problems },
})

export function recordingRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listRecordings(), next: null }, 200))
  app.openapi(show, async (c) => c.json(await runtime.getRecording(c.req.valid('param').run), 200))
  app.openapi(exported, async (c) => c.text(await runtime.exportRecording(c.req.valid('param').run, callerOf(c)), 200))
  app.openapi(remove, async (c) => {
    const { run } = c.req.valid('param')
    await runtime.removeRecording(run, callerOf(c))
    return c.json({ removed: run }, 200)
  })
  app.openapi(replay, async (c) =>
    c.json(await runtime.replayRun(c.req.valid('param').run, c.req.valid('json'), callerOf(c)), 201),
  )
  app.openapi(fork, async (c) => c.json(await runtime.forkRun(c.req.valid('param').run, c.req.valid('json'), callerOf(c)), 201))
  app.openapi(report, async (c) => c.json(await runtime.getReplay(c.req.valid('param').task), 200))
}
