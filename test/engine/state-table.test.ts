import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PawlError } from '../../src/domain/error.ts'
import { type Category, outcomes } from '../../src/domain/run/outcome.ts'
import { moves, type TaskState } from '../../src/domain/task/task.ts'
import { makeVerbs } from './verbs.ts'

/** The same numbers for the same seed, so that a failure can be seen again. */
function chanceOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const categories: (Category | undefined)[] = [
  undefined,
  'exit_code',
  'overloaded',
  'crashed',
  'usage_limit',
  'checks_failed',
  'network',
]

describe('whatever is asked for in whatever order', () => {
  let parts: Awaited<ReturnType<typeof makeVerbs>>
  let close: (() => Promise<void>) | undefined
  beforeAll(async () => {
    parts = await makeVerbs({
      onEnd: (end) => {
        close = end
      },
    })
    // The database itself writes down every change of a state, whoever makes it.
    await sql`create table pawl.seen_moves (id text, before text, after text)`.execute(parts.db)
    await sql`create function pawl.see_move() returns trigger language plpgsql as $$ begin
      insert into pawl.seen_moves values (new.id, case when tg_op = 'UPDATE' then old.state end, new.state); return new; end $$`.execute(
      parts.db,
    )
    await sql`create trigger see_insert after insert on pawl.tasks for each row execute function pawl.see_move()`.execute(
      parts.db,
    )
    await sql`create trigger see_update after update on pawl.tasks for each row when (old.state is distinct from new.state) execute function pawl.see_move()`.execute(
      parts.db,
    )
  })
  afterAll(() => close?.())

  it.each(['failed', 'timed_out', 'cancelled', 'over_budget'] as const)(
    'a task that ended as %s goes on when somebody retries it',
    async (outcome) => {
      const { verbs, caller, add, begin, settler, stateOf, end } = parts
      const { id } = await add({ once: true })
      const category = outcome === 'failed' ? { category: 'internal' as const } : {}
      await settler.settleRun(await begin(id), { outcome, text: '', ...category })
      expect(await stateOf(id)).toBe(outcome)
      expect((await verbs.retryTask(id, caller)).state).toBe('queued')
      await end(id, 'succeeded')
      expect(await stateOf(id)).toBe('completed')
    },
  )

  it.each([1, 2, 3, 4])('no task ever makes a move that is not in the table (seed %i)', async (seed) => {
    const { verbs, caller, db, begin } = parts
    const below = chanceOf(seed)
    const pick = <T>(list: readonly T[]): T | undefined => list[below(list.length)]
    const ids: string[] = []
    const running = new Map<string, Awaited<ReturnType<typeof begin>>>()
    const steps = {
      async create() {
        const dependsOn = ids.length > 0 && below(2) === 0 ? [pick(ids)!] : undefined
        const parent = ids.length > 0 && below(4) === 0 ? pick(ids) : undefined
        const { task } = await verbs.createTask(
          {
            prompt: 'x',
            review: below(4) === 0,
            once: below(5) === 0,
            ...(dependsOn ? { dependsOn } : {}),
            ...(parent ? { parent } : {}),
          },
          caller,
        )
        ids.push(task.id)
      },
      async begin(id: string) {
        if ((await verbs.getTask(id)).state === 'queued') running.set(id, await begin(id))
      },
      async finish(id: string) {
        const run = running.get(id)
        if (!run) return
        running.delete(id)
        const outcome = pick(outcomes)!
        const category = outcome === 'failed' ? (pick(categories) ?? 'internal') : undefined
        await parts.settler.settleRun(run, { outcome, text: '', ...(category ? { category } : {}) })
      },
      cancel: (id: string) => verbs.cancelTask(id, { ...caller, now: below(2) === 0 }),
      retry: (id: string) => verbs.retryTask(id, { ...caller, fresh: below(2) === 0 }),
      edit: (id: string) => verbs.editTask(id, { priority: below(5) }, caller),
      async remove(id: string) {
        const { removed } = await verbs.removeTask(id, caller)
        for (const gone of removed) ids.splice(ids.indexOf(gone), 1)
      },
    }
    const names = ['create', 'begin', 'begin', 'finish', 'finish', 'cancel', 'retry', 'retry', 'edit', 'remove'] as const
    for (let step = 0; step < 80; step++) {
      const name = ids.length < 3 ? 'create' : pick(names)!
      const id = name === 'finish' ? (pick([...running.keys()]) ?? pick(ids)!) : pick(ids)!
      await steps[name](id).catch((error: unknown) => {
        // A refusal is an answer; anything else is a fault.
        if (!(error instanceof PawlError) || error.code === 'internal') throw error
      })
    }
    const { rows } = await sql<{
      before: TaskState | null
      after: TaskState
    }>`select distinct before, after from pawl.seen_moves`.execute(db)
    const allowed = Object.values(moves).map(({ from, to }) => ({ from: from as readonly TaskState[], to }))
    const wrong = rows.filter(({ before, after }) =>
      before === null
        ? after !== 'created' && after !== 'queued'
        : !allowed.some(({ from, to }) => to === after && from.includes(before)),
    )
    expect(wrong).toEqual([])
    expect(rows.length).toBeGreaterThan(10)
    // Nobody waits for what has ended.
    const stuck = await sql<{ id: string }>`
      select t.id from pawl.tasks t where t.state = 'created' and not exists (
        select 1 from pawl.task_dependencies d join pawl.tasks o on o.id = d.depends_on_id
        where d.task_id = t.id and o.state not in ('completed', 'failed', 'cancelled', 'timed_out', 'over_budget'))
    `.execute(db)
    expect(stuck.rows).toEqual([])
  })
})
