import { z } from 'zod'
import { Name, TaskId, TokenId, UserName } from '../id.ts'
import { roles } from './role.ts'

/** Users, tokens and the audit, as every surface shows and takes them. */
const Time = z.iso.datetime()

/** Begins every token, so that one that leaked is recognised wherever it turns up. */
export const tokenPrefix = 'pawl_'

/** `session` is a browser that has signed in, `code` what it signs in with; both are made by signing in only. */
export const tokenKinds = ['user', 'hook', 'agent', 'session', 'code'] as const
export type TokenKind = (typeof tokenKinds)[number]

const Slots = z.int().min(1).max(10_000)
const DailyTasks = z.int().min(0).max(1_000_000)

export const NewUser = z.strictObject({
  name: UserName,
  role: z.enum(roles).default('operator'),
  slots: Slots.nullish().describe('How many of their tasks may run at once; no limit if left out.'),
  dailyTasks: DailyTasks.nullish().describe('How many tasks they may ask for per day (UTC); no limit if left out.'),
})
export type NewUser = z.input<typeof NewUser>

export const UserChanges = z.strictObject({
  role: z.enum(roles).optional(),
  isDisabled: z.boolean().optional().describe('A disabled user’s tokens open nothing.'),
  slots: Slots.nullish().describe('null for no limit.'),
  dailyTasks: DailyTasks.nullish().describe('null for no limit.'),
})
export type UserChanges = z.infer<typeof UserChanges>

export const UserView = z.object({
  name: z.string(),
  role: z.enum(roles),
  isDisabled: z.boolean(),
  slots: z.number().nullable(),
  dailyTasks: z.number().nullable(),
  tasksToday: z.number().nullable().describe('Counted only for a user with a daily limit.'),
  createdAt: Time,
})
export type UserView = z.infer<typeof UserView>

/** 90 days, which is long for a token and short for a forgotten one. */
export const defaultLifeDays = 90

export const NewToken = z.strictObject({
  user: Name.optional().describe('Whose token; left out, that of the one who asks.'),
  kind: z
    .enum(['user', 'hook', 'agent'])
    .default('user')
    .describe('A hook may only hand in tasks; an agent may only read its own task, while its run lasts.'),
  role: z.enum(roles).optional().describe('Less than the user’s own, for a token of kind user.'),
  name: z.string().min(1).max(100).optional().describe('What it is for.'),
  expiresInDays: z.int().min(0).max(3650).default(defaultLifeDays).describe('0 for a token that never expires.'),
  task: TaskId.optional().describe('For an agent: the task whose run it belongs to, which must be running.'),
})
export type NewToken = z.input<typeof NewToken>

export const TokenView = z.object({
  id: TokenId,
  user: z.string(),
  kind: z.enum(tokenKinds),
  role: z.enum(roles).nullable(),
  name: z.string().nullable(),
  task: TaskId.nullable(),
  createdAt: Time,
  createdBy: z.string(),
  expiresAt: Time.nullable(),
  lastUsedAt: Time.nullable().describe('To the minute.'),
  revokedAt: Time.nullable(),
})
export type TokenView = z.infer<typeof TokenView>

export const MadeToken = TokenView.extend({ token: z.string().describe('Shown this once; only its hash is stored.') })
export type MadeToken = z.infer<typeof MadeToken>

export const SignInCode = z.object({
  code: z.string().describe('Good once.'),
  path: z.string().describe('Where a browser takes it: append it to the address of the daemon.'),
  expiresAt: Time,
})
export type SignInCode = z.infer<typeof SignInCode>

export const Me = z.object({
  user: z.string(),
  standing: z.enum([...roles, 'hook', 'agent']),
  token: z.string().describe('The id of the token; `home` for that of Pawl’s home.'),
})
export type Me = z.infer<typeof Me>
