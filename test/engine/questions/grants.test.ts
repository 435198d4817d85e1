import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../src/domain/id.ts'
import type { ExactCall } from '../../../src/domain/question/question.ts'
import { defaultQuestions } from '../../../src/domain/question/settings.ts'
import { createAudit } from '../../../src/engine/auth/audit.ts'
import { askQuestions } from '../../../src/engine/questions/ask.ts'
import { questionVerbs } from '../../../src/operations/questions.ts'
import type { Redactor } from '../../../src/redact/redactor.ts'
import { useGrant } from '../../../src/store/grants.ts'
import { insertQuestion } from '../../../src/store/questions.ts'
import type { TakenRun } from '../../../src/store/runs.ts'
import { findTask } from '../../../src/store/tasks.ts'
import { makeParts } from '../store.ts'
import { HandClock } from '../test-clock.ts'

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

const push: ExactCall = { tool: 'Bash', inputDigest: 'of git push' }

/** A task that asked whether it may push, was told, and runs again. */
async function answered(answer: string) {
  const { db, journal, bus, log } = parts
  const task = await parts.addTask()
  const first = await parts.admit(task, 1, worker)
  await parts.lease(first, worker)
  const id = newId('question', clock.now())
  await db.transaction().execute((tx) =>
    insertQuestion(tx, {
      ...{ id, kind: 'permission', text: 'May it?', options: [], call: push, isHeld: false },
      ...{ task: task.id, run: first.id, fence: 1, at: new Date(clock.now()) },
    }),
  )
  await parts.settler.settleRun(first, { outcome: 'blocked', text: '' })
  const audit = createAudit({ db, clock, log })
  await questionVerbs({ db, journal, bus, clock, audit }).answerQuestion(id, answer, { by: 'test' })
  const told = (await findTask(db, task.id))?.continuation
  const run = await parts.admit(task, 2, worker)
  await parts.lease(run, worker)
  const use = (call = push, fence = 2) =>
    db
      .transaction()
      .execute((tx) =>
        useGrant(tx, call, { task: task.id, session: task.session, run: run.id, fence, at: new Date(clock.now()) }),
      )
  return { use, told }
}

it('what is allowed once is used once, by however many at the same moment', async () => {
  for (let round = 0; round < 5; round++) {
    const { use, told } = await answered('Allow once')
    expect(told).toMatchObject({
      kind: 'answer',
      answers: [{ answer: expect.stringContaining('is allowed, once. Make it again') }],
    })
    const used = await Promise.all(Array.from({ length: 12 }, () => use()))
    expect(used.filter((grant) => grant !== undefined)).toEqual([{ verdict: 'allow', said: null }])
    expect(await use()).toBeUndefined()
  }
})

it('it is for that input, for as long as it lasts, and for the run that has the task', async () => {
  const { use } = await answered('Allow once')
  expect(await use({ ...push, inputDigest: 'of git push -f' })).toBeUndefined()
  expect(await use({ ...push, tool: 'Write' })).toBeUndefined()
  expect(await use(push, 1)).toBeUndefined()
  clock.jump(defaultQuestions.grantsLastMs + 1)
  expect(await use()).toBeUndefined()
})

it('the same words ask something else if they are about another call, or offer something else', async () => {
  const task = await parts.addTask()
  const run = await parts.admit(task, 1, worker)
  await parts.lease(run, worker)
  const taken = { run: { id: run.id, fence: 1 }, task: { id: task.id, spec: {} } } as unknown as TakenRun
  const questions = { ...defaultQuestions, tellAsked: () => undefined, onAnswer: () => () => undefined }
  const redactor = { value: <T>(value: T) => value } as unknown as Redactor
  const asking = (options: string[], call?: ExactCall) =>
    askQuestions(
      taken,
      { journal: parts.journal, clock, redactor, questions },
      [{ kind: 'permission', text: 'May it?', options }],
      {
        ...{ isHeld: false, call },
      },
    )
  const [planted] = await asking(['Deny'])
  const [first] = await asking([], push)
  const [again] = await asking([], { ...push })
  const [other] = await asking([], { ...push, inputDigest: 'of git push -f' })
  expect(again).toBe(first)
  expect(new Set([planted, first, other]).size).toBe(3)
})

it('what is allowed for the task, and what is denied, stays so', async () => {
  const always = await answered('Allow for this task')
  const denied = await answered('not before friday')
  clock.jump(30 * 86_400_000)
  for (let n = 0; n < 3; n++) {
    expect(await always.use()).toEqual({ verdict: 'allow', said: null })
    expect(await denied.use()).toEqual({ verdict: 'deny', said: 'not before friday' })
  }
  expect(denied.told).toMatchObject({ answers: [{ answer: expect.stringContaining('is denied: not before friday') }] })
})
