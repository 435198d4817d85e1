import { z } from 'zod'
import { SecretName } from '../domain/auth/secret.ts'
import { notifiable, usualEvents, type WrittenNotification } from '../domain/notification/notification.ts'
import { Duration } from './duration.ts'
import { Env, variable } from './env-schema.ts'
import { absolute } from './places.ts'

const text = z.string().min(1, { error: 'must not be empty' })
const webUrl = 'must be an https URL (http only together with allowPrivate: true), without a user name'
const keptElsewhere = 'must name where the secret is kept, as { name: SECRET } of "pawl secret set" or { env: VARIABLE }'

const Webhook = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: webUrl })
      .refine((url) => new URL(url).username === '' && new URL(url).password === '', { error: webUrl })
      .describe('Where it is posted to.'),
    secret: z
      .union(
        [
          z.strictObject({ name: SecretName }),
          z.strictObject({ env: z.string().regex(variable, { error: 'must be the name of a variable' }) }),
        ],
        { error: keptElsewhere },
      )
      .describe('Where the secret that signs it is kept.'),
    allowPrivate: z
      .boolean()
      .optional()
      .describe('May lead to this machine or a private network, and without TLS. Only for receivers of your own.'),
  })
  .refine(({ url, allowPrivate }) => url.startsWith('https:') || allowPrivate === true, { path: ['url'], error: webUrl })

const Hook = z.strictObject({
  run: z
    .array(text.refine((part) => !part.includes('\0'), { error: 'must be plain text' }))
    .min(1, { error: 'must name a program' })
    .describe('Program and arguments; no shell reads them. A path is seen from this file.'),
  timeout: Duration.optional().describe('How long it may take.'),
  env: Env.optional().describe('More variables for it: names to pass on, or fixed values.'),
})

const ways = ['webhook', 'command', 'onDone'] as const

/** Somebody to be told, as it is written. */
export const NotificationEntry = z
  .strictObject({
    webhook: Webhook.optional().describe('Posts to an address.'),
    command: Hook.optional().describe('Runs a command on this machine, as the user of Pawl.'),
    onDone: Hook.optional().describe('Runs a command when work is done, and gives it the branch and the changes.'),
    events: z
      .array(z.enum(notifiable, { error: `must be events among ${notifiable.join(', ')}` }))
      .min(1, { error: 'must name at least one event' })
      .optional()
      .describe('Of which events; blocked, failed, completed, parked, timed out, over budget and review if left out.'),
    agents: z.array(text).optional().describe('Only tasks of these agents.'),
    tags: z.array(text).optional().describe('Only tasks with one of these tags.'),
    attempts: z
      .int({ error: 'must be a whole number of at least 1' })
      .min(1, { error: 'must be a whole number of at least 1' })
      .max(100, { error: 'must be at most 100' })
      .optional()
      .describe('How often it is tried in all.'),
  })
  .superRefine((entry, context) => {
    if (ways.filter((way) => entry[way] !== undefined).length !== 1)
      context.addIssue({ code: 'custom', message: `must have exactly one of ${ways.join(', ')}` })
    if (entry.onDone && entry.events?.some((type) => type !== 'task.completed' && type !== 'task.review'))
      context.addIssue({ code: 'custom', path: ['events'], message: 'must be task.completed or task.review for onDone' })
  })
export type NotificationEntry = z.output<typeof NotificationEntry>

/** Makes the path of a program absolute, as seen from the file it stands in. */
export function placeNotification(entry: NotificationEntry, folder: string, userHome: string | undefined): NotificationEntry {
  const placed = (hook: NotificationEntry['command']) => {
    const [file = '', ...args] = hook?.run ?? []
    return hook && file.includes('/') ? { ...hook, run: [absolute(file, folder, userHome), ...args] } : hook
  }
  return {
    ...entry,
    ...(entry.command ? { command: placed(entry.command) } : {}),
    ...(entry.onDone ? { onDone: placed(entry.onDone) } : {}),
  }
}

/** Nearly a day of tries, further and further apart. */
const webhookAttempts = 15
const hookAttempts = 3

/** The entries in the words of the domain. */
export function notificationsOf(entries: Readonly<Record<string, NotificationEntry>> | null | undefined): WrittenNotification[] {
  return Object.entries(entries ?? {}).map(([name, { webhook, command, onDone, events, agents, tags, attempts }]) => {
    const hook = command ?? onDone
    const filters = { ...(agents ? { agents } : {}), ...(tags ? { tags } : {}) }
    if (webhook)
      return {
        name,
        ...filters,
        events: events ?? usualEvents,
        attempts: attempts ?? webhookAttempts,
        way: { kind: 'webhook', url: webhook.url, secret: webhook.secret, allowPrivate: webhook.allowPrivate ?? false },
      }
    return {
      name,
      ...filters,
      events: events ?? (onDone ? ['task.completed'] : usualEvents),
      attempts: attempts ?? hookAttempts,
      way: {
        kind: 'command',
        run: hook?.run ?? [],
        diff: onDone !== undefined,
        timeoutMs: hook?.timeout ?? (onDone ? 5 * 60_000 : 60_000),
        env: hook?.env ?? { pass: [], set: {} },
      },
    }
  })
}
