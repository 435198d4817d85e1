import { newId } from '../../domain/id.ts'
import { type Notifiable, type Notification, notifiable } from '../../domain/notification/notification.ts'
import type { Tx } from '../../store/database.ts'
import type { Entry } from '../../store/events.ts'
import { insertOutbox, type ToTell } from '../../store/outbox.ts'
import type { Bus } from '../journal/bus.ts'
import { bounded } from './bounded.ts'

/**
 * Writes what the targets want to hear of events into the outbox, in the transaction that stores the events: either both are there or neither. Nothing
 * is asked of the database where there is nobody to tell, or for events that nobody wants.
 */
export function outboxWriter(targets: () => readonly Notification[], bus: Pick<Bus, 'tell'>) {
  return async (tx: Tx, entries: readonly Entry[]): Promise<(() => void) | undefined> => {
    const wanted = targets()
    if (wanted.length === 0) return undefined
    const items = entries.flatMap((entry) => wanted.flatMap((target) => toTell(entry, target)))
    if (items.length === 0 || (await insertOutbox(tx, items)) === 0) return undefined
    return () => bus.tell('outbox')
  }
}

export function toTell({ task, run, at, event }: Entry, { name, way, events, agents, tags }: Notification): ToTell[] {
  if (!isNotifiable(event.type)) return []
  if (needsNobody(event)) return []
  // A question that is put to a target by name is for that target, whatever else it wants to hear of.
  const isNamed = event.type === 'question.escalated' && event.data.webhook === name
  if (!isNamed && !events.includes(event.type)) return []
  const filters = isNamed ? { agents: undefined, tags: undefined } : { agents, tags }
  const id = newId('notification', at.getTime())
  return [{ id, target: name, kind: way.kind, task, run, event: event.type, data: bounded(event.data), at, ...filters }]
}

/**
 * A task that waits for its own subtasks, or a moment for others of its account, goes on by itself. Of those that go on, only the first one after a usage limit says
 * something new: that the limit is over.
 */
const needsNobody = (event: Entry['event']) =>
  (event.type === 'task.blocked' && event.data.kind === 'subtasks') ||
  (event.type === 'task.parked' && event.data.kind === 'staggered') ||
  (event.type === 'task.requeued' && event.data.after !== 'usage_limit')

const isNotifiable = (type: string): type is Notifiable => (notifiable as readonly string[]).includes(type)
