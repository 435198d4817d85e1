import { createRoute, z } from '@hono/zod-openapi'
import { FolderView, TaskFileRead, TaskFileText, TemplateView, WhenRead, WhenText } from '../../../domain/draft/draft.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const nothing = strict({})
const Template = z.object(TemplateView.shape).openapi('Template')
const Folders = z.object(FolderView.shape).openapi('Folders')
const body = <T extends z.ZodType>(schema: T) => ({ required: true, content: { 'application/json': { schema } } })

const templates = createRoute({
  method: 'get',
  path: `${api}/templates`,
  ...needs('work'),
  summary: 'The templates of prompts in the home, prompts/tasks/*.md.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(Template), next: z.null() }), 'All of them.'), ...problems },
})

const folders = createRoute({
  method: 'get',
  path: `${api}/folders`,
  ...needs('work'),
  summary: 'Folders to work in: those to begin at, or those in one. Only such as whoever asks may give to a task.',
  request: { query: strict({ path: z.string().min(1).max(4096).optional() }) },
  responses: { 200: json(Folders, 'The folders.'), ...problems },
})

const read = createRoute({
  method: 'post',
  path: `${api}/tasks/read`,
  ...needs('work'),
  summary: 'What would be made of a task file. Refuses it with all that is wrong, each with its line, and makes nothing.',
  request: { query: nothing, body: body(strict(TaskFileText.shape)) },
  responses: {
    200: json(z.object({ ...TaskFileRead.shape, tasks: z.array(schemas.NewTasks.shape.tasks.element) }), 'The tasks in it.'),
    ...problems,
  },
})

const preview = createRoute({
  method: 'post',
  path: `${api}/schedules/preview`,
  ...needs('work'),
  summary: 'When a schedule would be due that is written like this.',
  request: { query: nothing, body: body(strict(WhenText.shape)) },
  responses: { 200: json(z.object(WhenRead.shape), 'How it is read, and the next times.'), ...problems },
})

export function draftRoutes(app: App, { runtime }: Parts): void {
  app.openapi(templates, async (c) => c.json({ items: await runtime.listTemplates(), next: null }, 200))
  app.openapi(folders, async (c) => c.json(await runtime.listFolders(c.req.valid('query').path, callerOf(c)), 200))
  app.openapi(read, async (c) => c.json(await runtime.readTasks(c.req.valid('json'), callerOf(c)), 200))
  app.openapi(preview, async (c) => c.json(await runtime.previewSchedule(c.req.valid('json')), 200))
}
