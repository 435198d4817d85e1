import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/domain/id.ts'
import { defaultQuestions } from '../../../src/domain/question/settings.ts'
import { createAudit } from '../../../src/engine/auth/audit.ts'
import { waitForAnswers } from '../../../src/engine/questions/window.ts'
import { questionVerbs } from '../../../src/operations/questions.ts'
import { insertQuestion, questionsOfTask, releaseQuestions } from '../../../src/store/questions.ts'
import { findTask } from '../../../src/store/tasks.ts'
import { makeParts } from '../store.ts'

let parts: Awaited<ReturnType<typeof makeParts>>
let worker: string
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  parts = await makeParts((close) => closers.push(close))
  worker = await parts.addWorker()
})
afterAll(async () => {
  for (const close of closers) await close()
})

const verbs = () => {
  const { db, journal, bus, log } = parts
  const audit = createAudit({ db, clock: systemClock, log })
  return questionVerbs({ db, journal, bus, clock: systemClock, audit, questions: defaultQuestions })
}

/** A running task whose run holds one question. */
async function held() {
  const task = await parts.addTask()
  const run = await parts.admit(task, 1, worker)
  await parts.lease(run, worker)
  const id = newId('question', Date.now())
  await parts.db.transaction().execute((tx) =>
    insertQuestion(tx, {
      ...{ id, kind: 'free', text: 'Which?', options: [] },
      ...{ task: task.id, run: run.id, fence: 1, at: new Date(), isHeld: true },
    }),
  )
  return { task, run, id }
}
const window = (lastsMs: number, signal = new AbortController().signal) => ({
  ...{ db: parts.db, clock: systemClock, fence: 1, lastsMs, signal, beat: () => undefined },
  onAnswer: (tell: () => void) => parts.bus.on('answered', tell),
})

it('the end of the window and an answer want the same row: exactly one of them is first, whoever it is', async () => {
  const { answerQuestion } = verbs()
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, async (_, round) => {
      const { task, run, id } = await held()
      // Both set out in the same moment, now the one and now the other a little earlier.
      const [heard] = await Promise.all([waitForAnswers([id], window(round % 12)), answerQuestion(id, 'this', { by: 'test' })])
      const [question] = await questionsOfTask(parts.db, task.id)
      expect(question).toMatchObject({ state: 'answered', answer: 'this', held_by: heard ? 1 : null })
      // What the run then does: it goes on with the answer, or ends and waits for it.
      await parts.settler.settleRun(run, { outcome: heard ? 'succeeded' : 'blocked', text: '' })
      const settled = await findTask(parts.db, task.id)
      expect([settled?.state, settled?.continuation?.kind]).toEqual(heard ? ['completed', undefined] : ['queued', 'answer'])
      return heard
    }),
  )
  for (const heard of outcomes) if (heard) expect(heard).toEqual(['this'])
}, 60_000)

it('many who end the window and many who answer at once leave one winner, and the losers are told', async () => {
  const { answerQuestion } = verbs()
  for (let round = 0; round < 10; round++) {
    const { id } = await held()
    const releases = Array.from({ length: 4 }, () => releaseQuestions(parts.db, [id], 1))
    const answers = Array.from({ length: 6 }, (_, index) => answerQuestion(id, `answer ${index}`, { by: `user ${index}` }))
    const [released, answered] = await Promise.all([Promise.all(releases), Promise.allSettled(answers)])
    expect(answered.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of answered)
      if (result.status === 'rejected') expect(String(result.reason)).toMatch(/is answered already, by user \d at /)
    expect(released.flat().length).toBeLessThanOrEqual(1)
  }
}, 60_000)

it('a run that was cut short after it had been answered tells the next one, because nobody knows what it did with it', async () => {
  const { task, run, id } = await held()
  const waiting = waitForAnswers([id], window(10_000))
  await verbs().answerQuestion(id, 'this', { by: 'test' })
  expect(await waiting).toEqual(['this'])
  await parts.settler.settleRun(run, { outcome: 'lost', text: '' })
  expect(await findTask(parts.db, task.id)).toMatchObject({
    state: 'queued',
    continuation: { kind: 'answer', answers: [{ question: 'Which?', answer: 'this', heard: false }] },
  })
})

it('a run that fails after it had been answered fails: what it heard is no reason to go on', async () => {
  const { task, run, id } = await held()
  await verbs().answerQuestion(id, 'this', { by: 'test' })
  expect(await waitForAnswers([id], window(10_000))).toEqual(['this'])
  await parts.settler.settleRun(run, { outcome: 'failed', category: 'max_turns', text: '' })
  expect((await findTask(parts.db, task.id))?.state).toBe('failed')
})

it('a crash while the run waits leaves a plain question, which is answered as any other', async () => {
  const { task, run, id } = await held()
  await parts.settler.settleRun(run, { outcome: 'lost', text: '' })
  expect(await findTask(parts.db, task.id)).toMatchObject({ state: 'blocked', reason: { kind: 'question', detail: id } })
  await verbs().answerQuestion(id, 'later', { by: 'test' })
  expect((await findTask(parts.db, task.id))?.state).toBe('queued')
})

it('a run that is stopped while it waits does not wait to the end', async () => {
  const { id } = await held()
  const stop = new AbortController()
  const waiting = waitForAnswers([id], window(600_000, stop.signal))
  stop.abort()
  expect(await waiting).toBeUndefined()
})
