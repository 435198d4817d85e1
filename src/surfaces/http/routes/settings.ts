import { createRoute, z } from '@hono/zod-openapi'
import { DoctorView } from '../../../domain/view/doctor.ts'
import { SettingsChange, SettingsChanged, SettingsView } from '../../../domain/view/settings.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Settings = z.object(SettingsView.shape).openapi('Settings')
const Changed = z.object(SettingsChanged.shape).openapi('SettingsChanged')

const show = createRoute({
  method: 'get',
  path: `${api}/config`,
  ...needs('administer'),
  summary: 'Every setting in force, where it was decided and when a change of it counts; secrets are masked.',
  request: { query: strict({}) },
  responses: { 200: json(Settings, 'The settings.'), ...problems },
})

const change = createRoute({
  method: 'patch',
  path: `${api}/config`,
  ...needs('administer'),
  summary: 'Change the settings of the home. Checked as a whole before it is written; comments in the file stay.',
  request: {
    query: strict({}),
    body: { required: true, content: { 'application/json': { schema: strict(SettingsChange.shape).openapi('SettingsChange') } } },
  },
  responses: { 200: json(Changed, 'What is otherwise now, and what needs a restart.'), ...problems },
})

const undo = createRoute({
  method: 'post',
  path: `${api}/config/undo`,
  ...needs('administer'),
  summary: 'Put the settings of the home back as they were before the last change; twice brings it back.',
  request: { query: strict({}), body: { content: { 'application/json': { schema: strict({}) } } } },
  responses: { 200: json(Changed, 'What is otherwise now.'), ...problems },
})

const doctor = createRoute({
  method: 'get',
  path: `${api}/doctor`,
  ...needs('administer'),
  summary:
    'What is wrong with this machine and what to do about it. Answers at once with what is known; ask again while it runs.',
  request: { query: strict({ fresh: z.enum(['true', 'false']).optional().openapi({ description: 'Look anew.' }) }) },
  responses: { 200: json(z.object(DoctorView.shape).openapi('Doctor'), 'What was found so far.'), ...problems },
})

export function settingsRoutes(app: App, { runtime }: Parts): void {
  app.openapi(show, async (c) => c.json(await runtime.getSettings(), 200))
  app.openapi(change, async (c) => c.json(await runtime.changeSettings(c.req.valid('json'), callerOf(c)), 200))
  app.openapi(undo, async (c) => c.json(await runtime.undoSettings(callerOf(c)), 200))
  app.openapi(doctor, async (c) => c.json(await runtime.inspect({ fresh: c.req.valid('query').fresh === 'true' }), 200))
}
