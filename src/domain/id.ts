import { z } from 'zod'

/**
 * Ids sort by the time of their making: nine characters of milliseconds, nine of chance, in base 32 without look-alikes.
 * They never begin with a dash and hold nothing a shell, a path or a URL would read as its own.
 */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const prefixes = {
  task: 't',
  run: 'r',
  session: 's',
  question: 'q',
  worker: 'w',
  event: 'e',
  token: 'k',
  notification: 'n',
  schedule: 'c',
  upload: 'u',
  artifact: 'a',
  push: 'p',
} as const
export type IdKind = keyof typeof prefixes

export function newId(kind: IdKind, nowMs: number): string {
  let time = ''
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time
  let chance = ''
  for (let i = 0; i < 9; i++) chance += alphabet[randomByte() % 32]
  return `${prefixes[kind]}_${time}${chance}`
}

/** Asking the system for a few bytes costs as much as asking for many. */
const pool = new Uint8Array(4_096)
let used = pool.length
function randomByte(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  return pool[used++]!
}

const idSchema = (kind: IdKind) =>
  z
    .string()
    .regex(new RegExp(`^${prefixes[kind]}_[0-9a-z]{18}$`), `expected a ${kind} id like ${prefixes[kind]}_0123456789abcdefgh`)

export const TaskId = idSchema('task')
export const RunId = idSchema('run')
export const SessionId = idSchema('session')
export const QuestionId = idSchema('question')
export const TokenId = idSchema('token')
export const NotificationId = idSchema('notification')
export const ScheduleId = idSchema('schedule')
export const UploadId = idSchema('upload')
export const ArtifactId = idSchema('artifact')
export const PushId = idSchema('push')

const nameRule =
  'must be a name of letters, digits, dot, dash and underscore, beginning with a letter or digit, at most 64 characters long'

/** Names that people choose (agents, profiles, schedules, tags), in settings as in the API: safe in paths, command lines and URLs. */
export const Name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, nameRule)
  // Names become keys of maps.
  .refine((name) => !(name in Object.prototype), 'must be a name that JavaScript does not use itself')

/** A user has folders of that name, and two that differ in capitals only would share them where file systems ignore case. */
export const UserName = Name.refine((name) => name === name.toLowerCase(), 'must be a name in lower-case letters')

/** Makes a name of a title, with dashes for what a name cannot hold; undefined if nothing of it is left. */
export function nameFrom(title: string): string | undefined {
  const slug = title
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '')
  return Name.safeParse(slug).success ? slug : undefined
}
