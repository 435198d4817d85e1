import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../test/http-peer.ts'
import { eventTypes } from '../../domain/event/event.ts'

const surface = surfaceOver(fakeRuntime())
const describe = async () => (await ask(surface, 'GET', '/api/v1/openapi.json')).json

test('each route is described, and nothing else is', async () => {
  const document = await describe()
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const routes = surface.app.routes
    // The page is no part of the API.
    .filter(({ method, path }) => method !== 'ALL' && !['/', '/docs.css', '/plain.css'].includes(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, '{$1}')}`)
  expect(described.sort()).toEqual([...new Set(routes)].sort())
})

test('the document is OpenAPI 3.1, carries the version, and asks for a token everywhere but at the liveness route and where a browser signs in', async () => {
  const document = await describe()
  expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.2.3'])
  expect(document.security).toEqual([{ token: [] }])
  expect(document.components.securitySchemes.token).toEqual({ type: 'http', scheme: 'bearer' })
  const open = Object.entries(document.paths).filter(([, item]) => JSON.stringify(item).includes('"security":[]'))
  expect(open.map(([path]) => path)).toEqual(['/healthz', '/sign-in', '/open'])
})

test('every reference resolves, and the nouns have their names', async () => {
  const document = await describe()
  const text = JSON.stringify(document)
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(document.components.schemas).toHaveProperty(name!)
  expect(Object.keys(document.components.schemas).sort()).toEqual(
    [
      ...[
        'Agent',
        'Event',
        'Health',
        'Imported',
        'NewTask',
        'Folders',
        'Push',
        'PushTest',
        'Template',
        'NewTasks',
        'Problem',
        'Question',
        'Task',
        'TaskEdit',
      ],
      ...['TaskRetry', 'TaskSummary'],
      ...['Board', 'BulkResult', 'BulkWork', 'Doctor', 'Settings', 'SettingsChange', 'SettingsChanged'],
      ...['Upload', 'Artifact', 'McpServer', 'McpServerHealth'],
      ...['CallToExplain', 'Decision', 'Profile', 'ProfileSummary'],
      ...[
        'AuditEntry',
        'AuditVerdict',
        'Costs',
        'Halt',
        'MadeToken',
        'Me',
        'NewToken',
        'NewUser',
        'SignInCode',
        'Token',
        'User',
        'UserChanges',
      ],
      ...['Backup', 'CheckOutput'],
      ...['KeptWorkspace', 'Quarantine'],
      ...['Limit', 'Model', 'ModelFigures', 'ModelFiguresList', 'Prices', 'Notification', 'NotificationTest', 'Proof', 'Verdict'],
      ...['NewSecret', 'Secret'],
      ...['Recording', 'RecordingSummary', 'ReplayReport'],
      ...['ChangedFile', 'RunChanges', 'RunLogPart', 'TaskChanges', 'TaskFile'],
      ...['Skill', 'Subagent'],
      ...['NewSchedule', 'Schedule', 'ScheduleChanges', 'ScheduleSummary'],
      ...['NewSession', 'Session', 'SessionAdoption', 'SessionChoice', 'SessionStop', 'SessionSummary'],
    ].sort(),
  )
})

test('every event type is described', async () => {
  const text = JSON.stringify((await describe()).components.schemas.Event)
  for (const type of eventTypes) expect(text).toContain(`"${type}"`)
})

test('asking twice gives the same document', async () => {
  expect(await describe()).toEqual(await describe())
})
