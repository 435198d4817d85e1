import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/domain/id.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { relate } from '../../src/engine/tasks/relate.ts'
import { reviewVerbs } from '../../src/operations/review.ts'
import { insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeVerbs } from './verbs.ts'

describe('a task that depends on others', () => {
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
  const typesOf = async (id: string) => (await parts.verbs.readEvents(id, { after: 0, limit: 50 })).map((event) => event.type)

  it('waits, says for whom, and is queued when all of them are completed', async () => {
    const { add, end, stateOf, verbs } = parts
    const [one, two] = [await add({ name: 'build' }), await add()]
    const last = await add({ dependsOn: [one.id, two.id] })
    expect(last).toMatchObject({ state: 'created', reason: { kind: 'dependency', detail: `${one.id}, ${two.id}` } })
    expect(last.dependsOn).toEqual([
      { id: one.id, name: 'build', state: 'queued' },
      { id: two.id, name: null, state: 'queued' },
    ])
    await end(one.id, 'succeeded')
    expect((await verbs.getTask(last.id)).reason).toEqual({ kind: 'dependency', detail: two.id })
    await end(two.id, 'succeeded')
    expect(await stateOf(last.id)).toBe('queued')
    expect(await typesOf(last.id)).toEqual(['task.created', 'task.requeued'])
  })

  it('fails with the one it depends on, and so does what depends on it, with who and why', async () => {
    const { add, end, verbs } = parts
    const first = await add({ name: 'fetch' })
    const second = await add({ dependsOn: [first.id] })
    const third = await add({ dependsOn: [second.id] })
    await end(first.id, 'failed', 'exit_code')
    const [b, c] = [await verbs.getTask(second.id), await verbs.getTask(third.id)]
    expect(b).toMatchObject({ state: 'failed', reason: { kind: 'dependency_failed' } })
    expect(b.reason?.detail).toBe(`Task ${first.id} ("fetch"), which it depends on, is failed: It broke.`)
    expect(c).toMatchObject({ state: 'failed', reason: { kind: 'dependency_failed' } })
    expect(c.reason?.detail).toContain(`Task ${second.id}, which it depends on, is failed: Task ${first.id} ("fetch")`)
    expect(await typesOf(third.id)).toEqual(['task.created', 'task.failed'])
  })

  it('fails when the one it depends on is cancelled, and can be cancelled itself while it waits', async () => {
    const { add, verbs, caller, stateOf } = parts
    const first = await add()
    const [second, other] = [await add({ dependsOn: [first.id] }), await add({ dependsOn: [first.id] })]
    expect((await verbs.cancelTask(other.id, { ...caller, now: false })).state).toBe('cancelled')
    await verbs.cancelTask(first.id, { ...caller, now: false })
    expect(await stateOf(second.id)).toBe('failed')
    expect((await verbs.getTask(second.id)).reason?.detail).toBe(`Task ${first.id}, which it depends on, is cancelled.`)
    expect(await stateOf(other.id)).toBe('cancelled')
  })

  it('is queued at once if they are completed, and refused if one has ended otherwise or is not there', async () => {
    const { add, end } = parts
    const [good, bad] = [await add(), await add({ name: 'lint' })]
    await end(good.id, 'succeeded')
    await end(bad.id, 'failed', 'exit_code')
    expect((await add({ dependsOn: [good.id] })).state).toBe('queued')
    await expect(add({ dependsOn: [good.id, bad.id] })).rejects.toThrow(
      `Task ${bad.id} ("lint") is failed, so what depends on it would never begin; retry it first.`,
    )
    await expect(add({ dependsOn: ['t_000000000000000000'] })).rejects.toThrow(/There is no task t_0{18} to depend on/)
  })

  it('that has begun does not end because a completed dependency is tried again and fails', async () => {
    const { add, end, verbs, caller, stateOf } = parts
    const first = await add()
    const second = await add({ dependsOn: [first.id] })
    await end(first.id, 'succeeded')
    await verbs.retryTask(first.id, caller)
    await end(first.id, 'failed', 'exit_code')
    expect(await stateOf(second.id)).toBe('queued')
  })

  it('can be retried once they are completed, and not before', async () => {
    const { add, end, verbs, caller, stateOf } = parts
    const first = await add()
    const second = await add({ dependsOn: [first.id] })
    await end(first.id, 'failed', 'exit_code')
    await expect(verbs.retryTask(second.id, caller)).rejects.toThrow(
      `Task ${second.id} depends on what is not completed: Task ${first.id} is failed. Retry it once that is completed.`,
    )
    await verbs.retryTask(first.id, caller)
    await expect(verbs.retryTask(second.id, caller)).rejects.toThrow(/is queued\. Retry it once/)
    await end(first.id, 'succeeded')
    await verbs.retryTask(second.id, caller)
    expect(await stateOf(second.id)).toBe('queued')
  })

  it('waits for a person after one that did only a part of its work, and starts when it is retried', async () => {
    const { add, end, verbs, caller } = parts
    const first = await add({ name: 'build' })
    const second = await add({ dependsOn: [first.id] })
    const third = await add({ dependsOn: [second.id] })
    await end(first.id, 'partial')
    expect(await verbs.getTask(first.id)).toMatchObject({ state: 'completed', shortfall: 'partial' })
    const held = await verbs.getTask(second.id)
    expect(held).toMatchObject({
      state: 'blocked',
      reason: {
        kind: 'dependency_partial',
        detail: expect.stringContaining(`Task ${first.id} ("build"), which it depends on, did only`),
      },
      dependsOn: [{ id: first.id, name: 'build', state: 'completed', shortfall: 'partial' }],
    })
    expect((await verbs.listTasks({ columns: ['needs_you'], limit: 50 })).items.map(({ id }) => id)).toContain(second.id)
    expect(await typesOf(second.id)).toEqual(['task.created', 'task.blocked'])
    expect(await verbs.getTask(third.id)).toMatchObject({ state: 'created', reason: { detail: second.id } })
    expect(await verbs.retryTask(second.id, caller)).toMatchObject({ state: 'queued', reason: null })
    await end(second.id, 'succeeded')
    expect(await parts.stateOf(third.id)).toBe('queued')
  })

  it('starts by itself once what was done only in part is tried again and whole, stays while it is not, and fails with it', async () => {
    const { add, end, verbs, caller, stateOf } = parts
    const first = await add()
    const [second, third] = [await add({ dependsOn: [first.id] }), await add({ dependsOn: [first.id] })]
    await end(first.id, 'empty')
    expect((await verbs.getTask(second.id)).reason?.kind).toBe('dependency_empty')
    await verbs.retryTask(first.id, caller)
    await expect(verbs.retryTask(second.id, caller)).rejects.toThrow(/is queued\. Retry it once/)
    await end(first.id, 'partial')
    expect((await verbs.getTask(second.id)).reason?.kind).toBe('dependency_partial')
    expect((await verbs.cancelTask(third.id, { ...caller, now: false })).state).toBe('cancelled')
    await verbs.retryTask(first.id, caller)
    await end(first.id, 'succeeded')
    expect(await stateOf(second.id)).toBe('queued')
    expect(await stateOf(third.id)).toBe('cancelled')
    const other = await add()
    const fourth = await add({ dependsOn: [other.id] })
    await end(other.id, 'partial')
    await verbs.retryTask(other.id, caller)
    await end(other.id, 'failed', 'exit_code')
    expect(await verbs.getTask(fourth.id)).toMatchObject({ state: 'failed', reason: { kind: 'dependency_failed' } })
  })

  it('is held back when all have ended, whichever of them did less, and by one that had ended before it was made', async () => {
    const { add, end, verbs, caller, stateOf } = parts
    const [short, whole] = [await add(), await add()]
    const both = await add({ dependsOn: [short.id, whole.id] })
    await end(short.id, 'partial')
    expect(await verbs.getTask(both.id)).toMatchObject({ state: 'created', reason: { kind: 'dependency', detail: whole.id } })
    await end(whole.id, 'succeeded')
    expect(await verbs.getTask(both.id)).toMatchObject({ state: 'blocked', reason: { kind: 'dependency_partial' } })

    const before = await add()
    await end(before.id, 'partial')
    const late = await add({ dependsOn: [before.id] })
    expect(late).toMatchObject({ state: 'blocked', reason: { kind: 'dependency_partial' } })
    expect(await typesOf(late.id)).toEqual(['task.created', 'task.blocked'])
    await verbs.retryTask(before.id, caller)
    await end(before.id, 'succeeded')
    expect(await stateOf(late.id)).toBe('queued')
    expect((await verbs.readEvents(late.id, { after: 0, limit: 9 })).map(({ seq }) => seq)).toEqual([1, 2, 3])
  })

  it('starts after a part of the work if it said so before, if a person has accepted it, or if it is a subtask', async () => {
    const { add, end, begin, settler, stateOf, caller } = parts
    const first = await add()
    const eager = await add({ dependsOn: [first.id], acceptPartial: true })
    const parent = await add()
    const part = await add({ parent: parent.id, dependsOn: [first.id] })
    await end(first.id, 'partial')
    expect([await stateOf(eager.id), await stateOf(part.id)]).toEqual(['queued', 'queued'])
    expect((await add({ dependsOn: [first.id], acceptPartial: true })).state).toBe('queued')

    const looked = await add({ review: true })
    const after = await add({ dependsOn: [looked.id] })
    await settler.settleRun(await begin(looked.id), { outcome: 'partial', text: 'half' })
    expect(await parts.verbs.getTask(looked.id)).toMatchObject({ state: 'review', shortfall: 'partial' })
    expect(await stateOf(after.id)).toBe('created')
    const review = reviewVerbs(
      { ...parts, clock: systemClock, audit: createAudit({ ...parts, clock: systemClock }) },
      parts.verbs.getTask,
    )
    const accepted = await review.acceptTask(looked.id, caller)
    expect(accepted).toMatchObject({ state: 'completed', reason: null })
    expect(accepted.shortfall).toBeUndefined()
    expect(await stateOf(after.id)).toBe('queued')
  })

  it('is found by a dependency that ends while it is being written', async () => {
    const { db, add, begin, finish, stateOf } = parts
    const first = await add()
    const run = await begin(first.id)
    const id = newId('task', Date.now())
    const at = new Date()
    const written = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const writing = db.transaction().execute(async (tx) => {
      const related = await relate(tx, { dependsOn: [first.id] })
      const task = { id, session: { id: newId('session', Date.now()), isNew: true }, agent: commandAgent(['true']), prompt: 'x' }
      const rest = { priority: 0, rank: 0, tags: [], extraArgs: [], attended: false, boundTo: null, at }
      await insertTask(tx, { ...task, ...rest, ...related, workspace: `/tmp/${id}`, workspaceOwn: true })
      written.resolve()
      await goOn.promise
    })
    await written.promise
    const ending = finish(run, 'succeeded')
    await expect
      .poll(async () => (await sql<{ n: number }>`select count(*) as n from pg_locks where not granted`.execute(db)).rows[0]?.n)
      .toBeGreaterThan(0)
    goOn.resolve()
    await Promise.all([writing, ending])
    expect(await stateOf(first.id)).toBe('completed')
    expect(await stateOf(id)).toBe('queued')
  })

  it('never waits for ever, whichever of the two is first', async () => {
    const { add, begin, finish, stateOf } = parts
    for (let round = 0; round < 25; round++) {
      const [one, two] = [await add(), await add()]
      const runs = [await begin(one.id), await begin(two.id)]
      const isBad = round % 3 === 0
      const [made] = await Promise.allSettled([
        add({ dependsOn: [one.id, two.id] }),
        finish(runs[0]!, 'succeeded'),
        finish(runs[1]!, isBad ? 'failed' : 'succeeded', isBad ? 'exit_code' : undefined),
      ])
      if (made.status === 'rejected') expect([isBad, String(made.reason)]).toEqual([true, expect.stringContaining('is failed')])
      else expect([round, await stateOf(made.value.id)]).toEqual([round, isBad ? 'failed' : 'queued'])
    }
  })
})
