import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import { sweepRemovedRuns } from '../../src/operations/tasks/delete-task.ts'
import { belongings } from '../../src/store/task-removal.ts'
import { makeVerbs } from './verbs.ts'

describe('deleting a task', () => {
  let parts: Awaited<ReturnType<typeof makeVerbs>>
  let close: (() => Promise<void>) | undefined
  beforeAll(async () => {
    parts = await makeVerbs({
      onEnd: (end) => {
        close = end
      },
    })
  })
  afterAll(() => close?.())

  const countIn = async (table: string, column: string, ids: readonly string[]) =>
    (
      await sql<{
        n: number
      }>`select count(*) as n from ${sql.table(table)} where ${sql.ref(column)} = any(${[...ids]}::text[])`.execute(parts.db)
    ).rows[0]!.n
  const filesOf = (run: string) => join(parts.home.path, 'runs', run)

  it('takes everything below it with it: runs, events, questions, keys and files', async () => {
    const { verbs, caller, begin, finish, db } = parts
    const { task } = await verbs.createTask({ prompt: 'x' }, { ...caller, idempotencyKey: 'k1' })
    const part = (await verbs.createTask({ prompt: 'y', parent: task.id }, caller)).task
    expect(part.parent).toBe(task.id)
    const runs = [await begin(part.id), await begin(task.id)]
    for (const run of runs) {
      mkdirSync(filesOf(run.id), { recursive: true })
      writeFileSync(join(filesOf(run.id), 'stdout.log'), 'x')
    }
    await sql`insert into pawl.questions (id, task_id, run_id, kind, text, options, state, asked_at) values (${newId('question', 1)}, ${task.id}, ${runs[1]!.id}, 'free', 'q', '[]', 'cancelled', now())`.execute(
      db,
    )
    await sql`insert into pawl.tokens (id, hash, user_name, kind, task_id, run_id, created_at, created_by) values (${newId('token', 1)}, 'h', 'local', 'agent', ${task.id}, ${runs[1]!.id}, now(), 'x')`.execute(
      db,
    )
    for (const run of runs) await finish(run, 'succeeded')
    // It goes on once more, to hear of its subtask.
    if ((await parts.stateOf(task.id)) === 'queued') await parts.end(task.id, 'succeeded')
    const { removed } = await verbs.removeTask(task.id, caller)
    expect(removed.toSorted()).toEqual([task.id, part.id].toSorted())
    for (const { table, column } of belongings)
      expect([
        table,
        await countIn(table, column, column === 'task_id' ? [task.id, part.id] : runs.map((run) => run.id)),
      ]).toEqual([table, 0])
    expect(runs.map((run) => existsSync(filesOf(run.id)))).toEqual([false, false])
    await expect(verbs.getTask(task.id)).rejects.toThrow(/There is no task/)
    await expect(verbs.removeTask(task.id, caller)).rejects.toThrow(/There is no task/)
    const { rows } = await sql<{
      action: string
      subject: string
    }>`select action, subject from pawl.audit where action = 'task.delete'`.execute(db)
    expect(rows).toEqual([{ action: 'task.delete', subject: task.id }])
    // The key is free again.
    expect((await verbs.createTask({ prompt: 'other' }, { ...caller, idempotencyKey: 'k1' })).created).toBe(true)
  })

  it('is refused while the task or one of its subtasks has not ended, and says what to do', async () => {
    const { verbs, caller, add, begin, finish, end } = parts
    const waiting = await add()
    await expect(verbs.removeTask(waiting.id, caller)).rejects.toThrow(
      `Task ${waiting.id} is queued; only what has ended can be deleted. Stop it first: pawl cancel ${waiting.id}`,
    )
    const run = await begin(waiting.id)
    await expect(verbs.removeTask(waiting.id, caller)).rejects.toThrow(/is running; only what has ended/)
    await finish(run, 'succeeded')
    const part = await add({ parent: waiting.id })
    await expect(verbs.removeTask(waiting.id, caller)).rejects.toThrow(`Its subtask ${part.id} is queued`)
    await end(part.id, 'succeeded')
    expect((await verbs.removeTask(waiting.id, caller)).removed).toHaveLength(2)
  })

  it('is for the user whose task it is, and for admins', async () => {
    const { verbs, caller, add, end } = parts
    const { id } = await add()
    await end(id, 'succeeded')
    const other = { by: 'test', user: 'bert', standing: 'operator' } as const
    await expect(verbs.removeTask(id, other)).rejects.toThrow('is a task of the user "local"; only they themselves or an admin')
    expect((await verbs.removeTask(id, { ...caller, user: 'local', standing: 'operator' })).removed).toEqual([id])
    const second = await add()
    await end(second.id, 'succeeded')
    expect((await verbs.removeTask(second.id, { ...other, standing: 'admin' })).removed).toEqual([second.id])
  })

  it('lets those that depended on a completed one go on waiting for the others', async () => {
    const { verbs, caller, add, end, stateOf } = parts
    const [one, two] = [await add(), await add()]
    const last = await add({ dependsOn: [one.id, two.id] })
    await end(one.id, 'succeeded')
    await verbs.removeTask(one.id, caller)
    expect(await stateOf(last.id)).toBe('created')
    await end(two.id, 'succeeded')
    expect(await stateOf(last.id)).toBe('queued')
  })

  it('leaves no files behind when it died before it removed them', async () => {
    const { db, home } = parts
    const run = newId('run', Date.now())
    mkdirSync(filesOf(run), { recursive: true })
    await sql`insert into pawl.removed_runs (run_id) values (${run})`.execute(db)
    await sweepRemovedRuns(db, home.path)
    expect(existsSync(filesOf(run))).toBe(false)
    expect((await sql`select 1 from pawl.removed_runs`.execute(db)).rows).toEqual([])
  })

  it('knows every table that refers to tasks or runs', async () => {
    const { rows } = await sql<{ table: string; column: string }>`
      select n.nspname || '.' || r.relname as table, a.attname as column
      from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f' and c.confrelid in ('pawl.tasks'::regclass, 'pawl.runs'::regclass) and c.confdeltype = 'a'
        and c.conrelid <> 'pawl.tasks'::regclass
    `.execute(parts.db)
    const known = belongings.map(({ table, column }) => `${table}.${column}`)
    // What belongs to a run of a deleted task goes with the task itself, where it names both.
    const named = new Set(rows.filter(({ column }) => column === 'task_id').map(({ table }) => table))
    const missing = rows.filter(
      ({ table, column }) => !known.includes(`${table}.${column}`) && !(column === 'run_id' && named.has(table)),
    )
    expect(missing).toEqual([])
  })
})
