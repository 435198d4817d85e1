import { StreamResponse } from '@a2a-js/sdk'
import { PawlError } from '../../domain/error.ts'
import type { Compose } from '../../engine/delivery/listeners/send.ts'
import { type UpdateParts, updatesOf } from './updates.ts'

/** What listeners are told of one event of a task: exactly what a stream says of it, one message each. */
export async function* composePush(
  parts: UpdateParts,
  { task: id, seq, standing, wire }: Parameters<Compose>[0],
): ReturnType<Compose> {
  const [event] = await parts.runtime.readEvents(id, { after: seq - 1, limit: 1 })
  if (!event) return
  const { session } = await parts.runtime.getTask(id).catch((error: unknown) => {
    // It was deleted while we looked.
    if (error instanceof PawlError && error.code === 'not_found') return { session: undefined }
    throw error
  })
  if (session === undefined) return
  for (const update of await updatesOf(parts, event, { id, session }, { standing })) yield await written(update, wire)
}

async function written(update: StreamResponse, wire: string): Promise<{ body: string; contentType: string }> {
  if (wire.startsWith('1.')) return { body: JSON.stringify(StreamResponse.toJSON(update)), contentType: 'application/a2a+json' }
  const { V03PushNotificationSerializer } = await import('@a2a-js/sdk/compat/v0_3/server')
  return new V03PushNotificationSerializer().serialize(update)
}
