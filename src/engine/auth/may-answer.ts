import { localUser } from '../../domain/auth/role.ts'
import { denied } from '../../domain/error.ts'
import type { QuestionRow } from '../../store/tables.ts'
import type { Caller } from './audit.ts'

/** A question may name who answers it: users, or roles as `role:NAME`. The owner of the home is the user `local`, and an admin. */
export function assertMayAnswer({ id, may_answer: named }: Pick<QuestionRow, 'id' | 'may_answer'>, caller: Caller): void {
  if (named === null || isAmong(named, caller)) return
  const { user, role } = who(caller)
  throw denied(`Question ${id} may be answered by ${named.join(', ')} only, and you are ${user} (role:${role}).`)
}

export function isAmong(named: readonly string[], caller: Caller): boolean {
  const { user, role } = who(caller)
  return named.includes(user) || named.includes(`role:${role}`)
}

function who(caller: Caller): { user: string; role: string } {
  const user = caller.user ?? localUser
  return { user, role: caller.standing ?? (user === localUser ? 'admin' : 'operator') }
}
