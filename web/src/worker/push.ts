import type { PushPayload } from '../../../src/domain/notification/push.ts'
import type { WorkerScope } from './scope.ts'

/** Shows what was pushed. A browser wants something to be shown for each one, so what cannot be read is shown as well. */
export async function onPush(worker: WorkerScope, data: { json(): unknown } | null): Promise<void> {
  const { title, body, tag, path } = read(data)
  await worker.registration.showNotification(title, { body, tag, data: { path }, icon: '/icon-192.png', badge: '/icon-192.png' })
}

function read(data: { json(): unknown } | null): PushPayload {
  try {
    const said = data?.json() as Partial<Record<keyof PushPayload, unknown>> | null | undefined
    const text = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise)
    return {
      title: text(said?.title, 'Pawl'),
      body: text(said?.body, 'Something needs you.'),
      tag: text(said?.tag, 'pawl'),
      path: text(said?.path, '/inbox'),
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { title: 'Pawl', body: 'Something needs you.', tag: 'pawl', path: '/inbox' }
  }
}

/** A click opens the task: in a tab that is there, else in a new one. */
export async function onNotificationClick(worker: WorkerScope, notification: Notification): Promise<void> {
  notification.close()
  const wanted: unknown = (notification.data as { path?: unknown } | null)?.path
  // Only ever a screen of this page, whatever was pushed.
  const path = typeof wanted === 'string' && /^\/(?![/\\])/.test(wanted) ? wanted : '/inbox'
  const url = new URL(path, worker.location.origin).href
  const open = await worker.clients.matchAll({ type: 'window', includeUncontrolled: false })
  const client = open.find(({ visibilityState }) => visibilityState === 'visible') ?? open[0]
  if (!client) return void (await worker.clients.openWindow(url))
  await client.navigate(url)
  await client.focus().catch(() => undefined)
}
