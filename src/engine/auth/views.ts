import type { z } from 'zod'
import type { TokenView, UserView } from '../../domain/auth/token.ts'
import { demand } from '../../domain/base/demand.ts'
import { invalid } from '../../domain/error.ts'
import type { TokenRow } from '../../store/tables.ts'
import type { listUsers } from '../../store/users.ts'

/** Users and tokens as every surface shows them; never a hash. */
export const userView = (row: Awaited<ReturnType<typeof listUsers>>[number]): UserView => ({
  name: row.name,
  role: row.role,
  isDisabled: row.is_disabled,
  slots: row.slots,
  dailyTasks: row.daily_tasks,
  tasksToday: row.tasks_today,
  createdAt: row.created_at.toISOString(),
})

const time = (at: Date | null) => at?.toISOString() ?? null
export const tokenView = (row: TokenRow): TokenView => ({
  id: row.id,
  user: row.user_name,
  kind: row.kind,
  role: row.role,
  name: row.name,
  task: row.task_id,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  expiresAt: time(row.expires_at),
  lastUsedAt: time(row.last_used_at),
  revokedAt: time(row.revoked_at),
})

/** What was asked, or the first thing that is wrong with it. */
export function parse<T>(schema: z.ZodType<T>, asked: unknown, what: string): T {
  const parsed = schema.safeParse(asked)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(`The ${what} is not right: ${issue?.path.length ? issue.path.join('.') : 'it'} ${issue && demand(issue)}.`)
}
