import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'

const id = 'n_0123456789abcdefgh'

test('notifications are listed, sent again and tried over HTTP', async () => {
  const runtime = fakeRuntime()
  const surface = surfaceOver(runtime)
  const answers = [
    await ask(surface, 'GET', '/api/v1/notifications?state=dead&target=ops&limit=5'),
    await ask(surface, 'POST', `/api/v1/notifications/${id}/retry`),
    await ask(surface, 'POST', '/api/v1/notifications/retry', { json: { target: 'ops' } }),
    await ask(surface, 'POST', '/api/v1/notification-tests', { json: { target: 'ops' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const caller = expect.objectContaining({ by: expect.any(String) })
  expect(runtime.calls).toEqual([
    ['listNotifications', { state: 'dead', target: 'ops', limit: 5 }],
    ['retryNotifications', { id }, caller],
    ['retryNotifications', { target: 'ops' }, caller],
    ['testNotification', 'ops', caller],
  ])
})

test.each([
  ['GET', '/api/v1/notifications?state=lost', 400],
  ['GET', '/api/v1/notifications?limit=0', 400],
  ['POST', '/api/v1/notifications/x/retry', 404],
])('%s %s is refused with %i', async (method, path, status) => {
  expect((await ask(surfaceOver(fakeRuntime()), method, path)).status).toBe(status)
})
