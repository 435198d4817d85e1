import { createRoute, z } from '@hono/zod-openapi'
import { seesDetail } from '../../../domain/auth/detail.ts'
import { RunId } from '../../../domain/id.ts'
import { ChangedFile, RunChangesView, TaskChangesView, TaskFile } from '../../../domain/view/changes.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'
import { TaskPath } from './tasks.ts'

const Changes = z
  .object({
    ...TaskChangesView.shape,
    files: z.array(z.object(TaskFile.shape).openapi('TaskFile')),
    runs: z.array(
      z
        .object({ ...RunChangesView.shape, files: z.array(z.object(ChangedFile.shape).openapi('ChangedFile')) })
        .openapi('RunChanges'),
    ),
  })
  .openapi('TaskChanges')

const list = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/changes`,
  ...needs('read_task'),
  summary: 'Which files a task changed, run by run and all together.',
  request: { params: TaskPath, query: strict({}) },
  responses: { 200: json(Changes, 'Without the differences themselves.'), ...problems },
})

const diff = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/diff`,
  ...needs('read_task'),
  summary: 'How a task changed them, as git writes it: the runs one after the other.',
  request: {
    params: TaskPath,
    query: strict({
      run: RunId.optional().openapi({ description: 'Of this run only.' }),
      path: z.string().min(1).max(4096).optional().openapi({ description: 'Of this file only.' }),
    }),
  },
  responses: {
    200: {
      description: 'Empty if nothing was changed. Binary files are named and not shown.',
      content: { 'text/x-diff': { schema: z.string() } },
    },
    ...problems,
  },
})

export function changeRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => {
    const changes = await runtime.listChanges(c.req.valid('param').id)
    if (seesDetail(callerOf(c).standing)) return c.json(changes, 200)
    // Why something is not known is a matter of the machine.
    const runs = changes.runs.map((run) => (run.why === null ? run : { ...run, why: 'Not all of it is known.' }))
    return c.json({ ...changes, runs }, 200)
  })
  app.openapi(diff, async (c) => {
    const text = await runtime.readDiff(c.req.valid('param').id, c.req.valid('query'))
    return c.body(text, 200, { 'Content-Type': 'text/x-diff; charset=utf-8' })
  })
}
