import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unavailable } from '../../../src/domain/error.ts'
import { newId } from '../../../src/domain/id.ts'
import type { QuestionPolicy } from '../../../src/domain/question/policy.ts'
import { defaultQuestions } from '../../../src/domain/question/settings.ts'
import type { TaskView } from '../../../src/domain/view/view.ts'
import { createAudit } from '../../../src/engine/auth/audit.ts'
import { createDeadlines, type Deadlines } from '../../../src/engine/questions/deadlines.ts'
import { policyOf } from '../../../src/engine/questions/settings.ts'
import { questionVerbs } from '../../../src/operations/questions.ts'
import { findQuestion, insertQuestion } from '../../../src/store/questions.ts'
import { findTask } from '../../../src/store/tasks.ts'
import { until } from '../home.ts'
import { makeParts } from '../store.ts'
import { HandClock } from '../test-clock.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const clock = new HandClock()
const closers: (() => Promise<void>)[] = []
let parts: Awaited<ReturnType<typeof makeParts>>
let worker: string
beforeAll(async () => {
  parts = await makeParts((close) => closers.push(close), { clock })
  worker = await parts.addWorker()
})
afterAll(async () => {
  for (const close of closers) await close()
})

/** Whoever looks after deadlines in a store whose time is moved by hand. */
function world() {
  const { db, journal, bus, log } = parts
  const made = new Map<string, { prompt: string; id: string; session: string }>()
  /** As the verb does it: one key, one task. */
  const createTask = async (task: { prompt: string }, { idempotencyKey: key }: { idempotencyKey?: string | undefined }) => {
    if (!made.has(key!)) made.set(key!, { prompt: task.prompt, ...(await parts.addTask()) })
    return { task: { id: made.get(key!)!.id } as TaskView, created: true }
  }
  const watching = (): Deadlines => createDeadlines({ db, journal, bus, clock, log, settings: defaultQuestions, createTask })
  const deadlines = watching()
  const audit = createAudit({ db, clock, log })
  const verbs = questionVerbs({ db, journal, bus, clock, audit })

  /** A task that is blocked by a question of its run. */
  async function asking(policy: QuestionPolicy, kind: 'free' | 'permission' = 'free') {
    const task = await parts.addTask()
    const run = await parts.admit(task, 1, worker)
    await parts.lease(run, worker)
    const id = newId('question', clock.now())
    const call = kind === 'permission' ? { tool: 'Bash', inputDigest: 'd' } : undefined
    await db.transaction().execute((tx) =>
      insertQuestion(tx, {
        ...{ id, kind, text: 'Which?', options: ['this', 'that'], call, isHeld: false },
        ...{ task: task.id, run: run.id, fence: 1, at: new Date(clock.now()) },
        ...policyOf(policy, defaultQuestions, clock.now()),
      }),
    )
    await parts.settler.settleRun(run, { outcome: 'blocked', text: '' })
    return { id, task: task.id }
  }
  /** Runs a task to its end. */
  async function finish(task: { id: string; session: string }, text: string, outcome: 'succeeded' | 'failed' = 'succeeded') {
    const run = await parts.admit(task, 1, worker)
    await parts.lease(run, worker)
    await parts.settler.settleRun(run, { outcome, text, ...(outcome === 'failed' ? { category: 'max_turns' } : {}) })
  }
  /** Hour by hour, with a look after each. */
  async function pass(ms: number) {
    for (let left = ms; left > 0; left -= hour) {
      clock.advance(Math.min(hour, left))
      await deadlines.look()
    }
  }
  const state = async (task: string) => (await findTask(db, task))?.state
  return { ...parts, clock, deadlines, watching, verbs, asking, finish, pass, state, made }
}

it('a question without a deadline waits for weeks, and is answered then', async () => {
  const { asking, pass, state, verbs } = world()
  const { id, task } = await asking({ afterDeadline: { kind: 'fail' } })
  await pass(30 * day)
  expect(await state(task)).toBe('blocked')
  await verbs.answerQuestion(id, 'this', { by: 'test' })
  expect(await state(task)).toBe('queued')
}, 60_000)

it('what is to happen after the deadline happens then, and not before', async () => {
  const { asking, pass, state, db } = world()
  const deadlineMs = 3 * day
  const denied = await asking({ deadlineMs, afterDeadline: { kind: 'deny' } })
  const permission = await asking({ deadlineMs, afterDeadline: { kind: 'deny' } }, 'permission')
  const proceeding = await asking({ deadlineMs, afterDeadline: { kind: 'proceed', answer: 'that' } })
  const failing = await asking({ deadlineMs, afterDeadline: { kind: 'fail' } })
  await pass(deadlineMs - hour)
  for (const { task } of [denied, permission, proceeding, failing]) expect(await state(task)).toBe('blocked')
  await pass(hour)
  expect(await findQuestion(db, denied.id)).toMatchObject({
    state: 'answered',
    answered_by: 'deadline',
    answer: expect.stringContaining('Nobody answered in time. Go on without'),
  })
  expect(await findTask(db, denied.task)).toMatchObject({ state: 'queued', continuation: { kind: 'answer' } })
  expect(await findTask(db, permission.task)).toMatchObject({
    continuation: { answers: [{ answer: expect.stringMatching(/is denied: Nobody answered in time/) }] },
  })
  const { rows } = await sql`select verdict, is_once from pawl.grants where task_id = ${permission.task}`.execute(db)
  expect(rows).toEqual([{ verdict: 'deny', is_once: false }])
  expect(await findQuestion(db, proceeding.id)).toMatchObject({ answer: 'that', answered_by: 'deadline' })
  expect(await findQuestion(db, failing.id)).toMatchObject({ state: 'expired' })
  expect(await findTask(db, failing.task)).toMatchObject({ state: 'failed', reason: { kind: 'unanswered' } })
}, 60_000)

it('an answer that comes too late is refused with what has happened meanwhile', async () => {
  const { asking, pass, verbs } = world()
  const denied = await asking({ deadlineMs: hour, afterDeadline: { kind: 'deny' } })
  const failed = await asking({ deadlineMs: hour, afterDeadline: { kind: 'fail' } })
  await pass(hour)
  await expect(verbs.answerQuestion(denied.id, 'this', { by: 'test' })).rejects.toThrow(/is answered already, by deadline at /)
  await expect(verbs.answerQuestion(failed.id, 'this', { by: 'test' })).rejects.toThrow(
    /was to be answered by .*; it is too late/,
  )
})

it('a webhook is told once, and has as long again before the question is denied', async () => {
  const { asking, pass, state, journal } = world()
  const webhook = 'pager'
  const { id, task } = await asking({ deadlineMs: 2 * day, afterDeadline: { kind: 'escalate', webhook } })
  await pass(2 * day + 12 * hour)
  expect(await state(task)).toBe('blocked')
  const told = (await journal.read(task, { after: 0, limit: 100 })).filter((event) => event.type === 'question.escalated')
  expect(told.map((event) => event.data)).toEqual([
    { questionId: id, text: 'Which?', options: ['this', 'that'], webhook, until: expect.any(String) },
  ])
  await pass(2 * day)
  expect(await state(task)).toBe('queued')
}, 60_000)

it('another agent is asked by a task of its own, whose last words are the answer', async () => {
  const { asking, pass, state, made, finish, db } = world()
  const { id, task } = await asking({ deadlineMs: day, afterDeadline: { kind: 'escalate', agent: 'other' } })
  await pass(day + 3 * hour)
  const [asked] = made.values()
  expect(asked?.prompt).toContain('```text\nWhich?\n```')
  expect(await findQuestion(db, id)).toMatchObject({ state: 'pending', escalated_to: asked?.id })
  await finish(asked!, '**That**\nbecause it is the better one.')
  await pass(hour)
  expect(await findQuestion(db, id)).toMatchObject({ state: 'answered', answer: 'that', answered_by: asked?.id })
  expect(await state(task)).toBe('queued')
  expect(made.size).toBe(1)
}, 60_000)

it('another agent that fails is like nobody; and one that asks itself is not passed on any further', async () => {
  const { asking, pass, state, made, finish, db } = world()
  const { id, task } = await asking({ deadlineMs: day, afterDeadline: { kind: 'escalate', agent: 'other' } })
  await pass(day)
  const [asked] = made.values()
  // As if the question below were one of the task that answers this one.
  const second = await asking({ deadlineMs: day, afterDeadline: { kind: 'escalate', agent: 'other' } })
  await sql`update pawl.questions set escalated_to = ${second.task} where id = ${id}`.execute(db)
  await pass(day)
  expect(made.size).toBe(1)
  expect(await state(second.task)).toBe('queued')
  expect(await findQuestion(db, second.id)).toMatchObject({ answered_by: 'deadline' })

  const third = await asking({ deadlineMs: day, afterDeadline: { kind: 'escalate', agent: 'other' } })
  await pass(day)
  const last = [...made.values()].at(-1)!
  expect(last.id).not.toBe(asked?.id)
  await finish(last, 'x', 'failed')
  await pass(hour)
  expect(await findQuestion(db, third.id)).toMatchObject({ state: 'answered', answered_by: 'deadline' })
  expect(await state(task)).toBe('queued')
}, 60_000)

it('several who look after deadlines do each of them once', async () => {
  const { asking, clock, watching, journal } = world()
  const all = await Promise.all(
    (['deny', 'fail'] as const).flatMap((kind) =>
      Array.from({ length: 5 }, () => asking({ deadlineMs: hour, afterDeadline: { kind } })),
    ),
  )
  clock.advance(hour)
  const counts = await Promise.all(Array.from({ length: 6 }, () => watching().look()))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10)
  for (const { task } of all) {
    const ends = (await journal.read(task, { after: 0, limit: 100 })).filter(
      (event) => event.type === 'task.requeued' || event.type === 'task.failed',
    )
    expect(ends).toHaveLength(1)
  }
})

it('it wakes by itself when the next one is due, also one that was asked meanwhile', async () => {
  const { asking, clock, deadlines, state, bus } = world()
  deadlines.start()
  const { task } = await asking({ deadlineMs: 10 * minute, afterDeadline: { kind: 'proceed', answer: 'this' } })
  bus.tell('asked')
  await until(async () => {
    clock.advance(5_000)
    return (await state(task)) === 'queued'
  })
  await deadlines.stop()
  await deadlines.stop()
})

it('a question that cannot be passed on for now does not hold up those after it', async () => {
  const { asking, db, journal, bus, log, state } = world()
  const first = await asking({ deadlineMs: hour, afterDeadline: { kind: 'escalate', agent: 'helper' } })
  const second = await asking({ deadlineMs: 2 * hour, afterDeadline: { kind: 'proceed', answer: 'that' } })
  const createTask = async () => Promise.reject(unavailable('The queue is full.'))
  const deadlines = createDeadlines({ db, journal, bus, clock, log, settings: defaultQuestions, createTask })
  clock.advance(3 * hour)
  await deadlines.look()
  expect([await state(first.task), await state(second.task)]).toEqual(['blocked', 'queued'])
  await db.deleteFrom('pawl.questions').where('id', '=', first.id).execute()
})
