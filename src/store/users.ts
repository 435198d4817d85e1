import { sql } from 'kysely'
import type { Role } from '../domain/auth/role.ts'
import type { Db, Tx } from './database.ts'
import type { UserRow } from './tables.ts'

export interface UserToInsert {
  readonly name: string
  readonly role: Role
  readonly slots: number | null
  readonly dailyTasks: number | null
  readonly at: Date
}

/** False if there is one of that name. */
export async function insertUser(tx: Tx, user: UserToInsert): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.users (name, role, slots, daily_tasks, created_at)
    values (${user.name}, ${user.role}, ${user.slots}, ${user.dailyTasks}, ${user.at}) on conflict do nothing returning name
  `.execute(tx)
  return rows.length === 1
}

export async function findUser(db: Db | Tx, name: string): Promise<UserRow | undefined> {
  return db.selectFrom('pawl.users').selectAll().where('name', '=', name).executeTakeFirst()
}

/** With the tasks that each has asked for on a day, where they are counted. */
export async function listUsers(db: Db, day: string): Promise<(UserRow & { tasks_today: number | null })[]> {
  const { rows } = await sql<UserRow & { tasks_today: number | null }>`
    select u.*, case when u.daily_tasks is null then null else coalesce(q.tasks, 0) end as tasks_today
    from pawl.users u left join pawl.quotas q on q.user_name = u.name and q.day = ${day}::date order by u.name
  `.execute(db)
  return rows
}

export interface UserUpdate {
  readonly role?: Role | undefined
  readonly isDisabled?: boolean | undefined
  readonly slots?: number | null | undefined
  readonly dailyTasks?: number | null | undefined
}

/** False if there is no such user. */
export async function updateUser(tx: Tx, name: string, change: UserUpdate): Promise<boolean> {
  const to = (column: 'role' | 'is_disabled' | 'slots' | 'daily_tasks', value: unknown) =>
    value === undefined ? sql.ref(column) : sql`${value}`
  const { rows } = await sql`
    update pawl.users set role = ${to('role', change.role)}, is_disabled = ${to('is_disabled', change.isDisabled)},
      slots = ${to('slots', change.slots)}, daily_tasks = ${to('daily_tasks', change.dailyTasks)}
    where name = ${name} returning name
  `.execute(tx)
  return rows.length === 1
}

export async function deleteUser(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql`delete from pawl.users where name = ${name} returning name`.execute(tx)
  return rows.length === 1
}
