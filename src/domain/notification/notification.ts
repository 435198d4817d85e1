import { z } from 'zod'
import type { EventType } from '../event/event.ts'
import { NotificationId, RunId, TaskId } from '../id.ts'
import type { Environment } from '../profile/resolve.ts'
import { type ToldEvent, toldEvents } from './listener.ts'

/** The events that others can be told of. */
export const notifiable = [
  'task.blocked',
  'task.failed',
  'task.completed',
  'task.parked',
  'task.timed_out',
  'task.over_budget',
  'task.cancelled',
  'task.review',
  'question.asked',
  'question.escalated',
  'task.requeued',
] as const satisfies readonly EventType[]
export type Notifiable = (typeof notifiable)[number]
const told = [...new Set<Notifiable | ToldEvent>([...notifiable, ...toldEvents])]

/**
 * What a person wants to hear who says nothing else: where they are needed, and how it ended. Whoever cancels a task knows; a question that nobody answers at once
 * blocks; and that a task goes on after a usage limit was announced when it was parked.
 */
export const usualEvents: readonly Notifiable[] = notifiable.filter(
  (type) => type !== 'task.cancelled' && type !== 'question.asked' && type !== 'task.requeued',
)

/** Somebody to be told: from the settings of Pawl's owner, or a browser that asked for it. */
export interface Notification {
  readonly name: string
  readonly events: readonly Notifiable[]
  /** Only tasks of these agents, and with one of these tags; all if left out. */
  readonly agents?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  /** Tries in all before it is left alone. */
  readonly attempts: number
  readonly way: WebhookWay | CommandWay | PushWay | ListenerWay | RecallWay
}
/** Somebody to be told whom the settings name. */
export type WrittenNotification = Notification & { readonly way: WebhookWay | CommandWay }

export interface WebhookWay {
  readonly kind: 'webhook'
  readonly url: string
  /** Where the secret that signs is kept. */
  readonly secret: { readonly name: string } | { readonly env: string }
  /** May lead to this machine or a private network, and without TLS. */
  readonly allowPrivate: boolean
}

export interface CommandWay {
  readonly kind: 'command'
  /** Program and arguments. No shell reads them. */
  readonly run: readonly string[]
  /** Is it given what the task changed, as a file? */
  readonly diff: boolean
  readonly timeoutMs: number
  readonly env: Environment
}

export interface PushWay {
  readonly kind: 'push'
  readonly subscription: string
  readonly endpoint: string
  /** Of the browser, in base64url. */
  readonly p256dh: string
  readonly auth: string
  /** Whether its user may hear what went wrong in full. */
  readonly seesDetail: boolean
}

/** All the addresses that clients want told of single tasks; which one, each row of the outbox says itself. */
export interface ListenerWay {
  readonly kind: 'a2a'
}

/** Agents on other machines, who are to end what they still do for a task that has ended here. */
export interface RecallWay {
  readonly kind: 'recall'
}

export const notificationStates = ['pending', 'sending', 'sent', 'dead'] as const
export type NotificationState = (typeof notificationStates)[number]

const Time = z.iso.datetime()

export const NotificationView = z.object({
  id: NotificationId.describe('Sent along as `webhook-id`: the same however often it is tried.'),
  target: z
    .string()
    .describe(
      'The name of the notification in the settings; `browser` and the id of one that asked for it; the id of what listens to the task; or `work elsewhere`, for a remote agent that is to end its task.',
    ),
  kind: z.enum(['webhook', 'command', 'push', 'a2a', 'recall']),
  event: z.enum(told),
  task: TaskId,
  run: RunId.nullable(),
  state: z
    .enum(notificationStates)
    .describe('`dead` was tried as often as the settings allow, and waits for "pawl notifications retry".'),
  attempts: z.number(),
  nextAt: Time.nullable().describe('When it is tried again.'),
  lastError: z.string().nullable(),
  createdAt: Time,
  sentAt: Time.nullable(),
})
export type NotificationView = z.infer<typeof NotificationView>

export const NotificationTest = z.object({
  target: z.string(),
  delivered: z.boolean(),
  detail: z.string().describe('What came of it, in a sentence.'),
  ms: z.number(),
})
export type NotificationTest = z.infer<typeof NotificationTest>

/** Which of them a list shows. */
export interface NotificationFilter {
  readonly state?: NotificationState | undefined
  readonly target?: string | undefined
  readonly task?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
