import { z } from 'zod'
import { PushId } from '../id.ts'
import { type Notifiable, notifiable } from './notification.ts'

/** What a browser is told of: where somebody is needed, what went wrong, and that a usage limit is over. */
export const pushEvents = [
  'question.asked',
  'question.escalated',
  'task.review',
  'task.failed',
  'task.timed_out',
  'task.over_budget',
  'task.requeued',
  'task.completed',
] as const satisfies readonly Notifiable[]
export type PushEvent = (typeof pushEvents)[number]

/** That all went well is told to those alone who ask for it. */
export const usualPushEvents: readonly PushEvent[] = pushEvents.filter((type) => type !== 'task.completed')

const base64url = (bytes: number, what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+={0,2}$/, `must be ${what} in base64url`)
    .refine((text) => Buffer.from(text, 'base64url').length === bytes, `must be ${what}: ${bytes} bytes in base64url`)

/** As a browser gives it: `PushSubscription.toJSON()`. */
export const NewPush = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/, error: 'must be the https address of a push service' })
    .max(2_000)
    .refine((url) => {
      const parsed = URL.parse(url)
      return parsed !== null && parsed.username === '' && parsed.password === ''
    }, 'must not have a user name in it')
    .describe('Where the browser’s push service takes messages for it.'),
  keys: z
    .strictObject({
      p256dh: base64url(65, 'a public key of P-256'),
      auth: base64url(16, 'a secret of the browser'),
    })
    .describe('What messages are encrypted with, so that the push service cannot read them.'),
  events: z
    .array(z.enum(pushEvents, { error: `must be events among ${pushEvents.join(', ')}` }))
    .min(1)
    .optional()
    .describe('Of which events; of all but task.completed if left out.'),
  label: z.string().min(1).max(100).optional().describe('What the browser is called in lists.'),
})
export type NewPush = z.infer<typeof NewPush>

const Time = z.iso.datetime()

export const PushView = z.object({
  id: PushId,
  user: z.string(),
  label: z.string(),
  service: z.string().describe('The host of the push service. The rest of the address is as good as a key, and is not shown.'),
  events: z.array(z.enum(notifiable)),
  target: z.string().describe('What it is called among notifications.'),
  createdAt: Time,
})
export type PushView = z.infer<typeof PushView>

export const PushState = z.object({
  publicKey: z.string().describe('What a browser subscribes with (`applicationServerKey`).'),
  events: z.array(z.enum(pushEvents)).describe('All that can be chosen.'),
  items: z.array(PushView).describe('The browsers of whoever asks.'),
})
export type PushState = z.infer<typeof PushState>

/** What its notifications are called in the outbox. No entry of the settings can have a name with a space in it. */
export const pushTarget = (id: string) => `browser ${id}`

/** What the worker of the page is handed and shows. */
export interface PushPayload {
  readonly title: string
  readonly body: string
  /** A later one with the same tag takes the place of an earlier one. */
  readonly tag: string
  /** The path of the page that a click opens. */
  readonly path: string
}
