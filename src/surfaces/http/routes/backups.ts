import { createRoute, z } from '@hono/zod-openapi'
import { BackupName, BackupUnderWay, BackupView, NewBackup } from '../../../domain/view/backup.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'
import { sendFile } from '../send-file.ts'

const Backup = z.object(BackupView.shape).openapi('Backup')
const nothing = strict({})

const list = createRoute({
  method: 'get',
  path: `${api}/backups`,
  ...needs('administer'),
  summary: 'The backups in the folder of this daemon, newest first.',
  request: { query: nothing },
  responses: {
    200: json(
      z.object({ items: z.array(Backup), next: z.null(), underWay: z.object(BackupUnderWay.shape).nullable() }),
      'Those that are whole, and how far the one is that is being taken.',
    ),
    ...problems,
  },
})

const create = createRoute({
  method: 'post',
  path: `${api}/backups`,
  ...needs('administer'),
  summary:
    'Take a backup now, while work goes on. Answered when it is whole and on disk; one is taken at a time. The key of the secrets is never in it.',
  request: { query: nothing, body: { content: { 'application/json': { schema: strict(NewBackup.shape) } } } },
  responses: { 201: json(Backup, 'It is there.'), ...problems },
})

const download = createRoute({
  method: 'get',
  path: `${api}/backups/{name}`,
  ...needs('administer'),
  summary: 'The file of a backup, whole or the part that a Range header asks for. One that holds keys is not handed out.',
  request: { params: z.object({ name: BackupName }), query: nothing },
  responses: {
    200: { description: 'All of it.', content: { 'application/octet-stream': { schema: z.string() } } },
    206: { description: 'A part of it.', content: { 'application/octet-stream': { schema: z.string() } } },
    ...problems,
  },
})

export function backupRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) =>
    c.json({ items: await runtime.listBackups(), next: null, underWay: await runtime.backupUnderWay() }, 200),
  )
  app.openapi(create, async (c) => c.json(await runtime.createBackup(c.req.valid('json'), callerOf(c)), 201))
  app.openapi(download, async (c) => {
    const { name } = c.req.valid('param')
    return sendFile(c, { ...(await runtime.findBackup(name, callerOf(c))), name, type: 'application/octet-stream' })
  })
}
