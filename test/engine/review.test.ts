import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { commandAgent, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const echoing = commandAgent(['cat'], { profile: 'unattended-open' })
const begin = async (task: Partial<NewTask> = {}) =>
  (await daemon.runtime.createTask({ prompt: 'do it', agentConfig: echoing, review: true, ...task }, { by: 'test' })).task
const get = (id: string) => daemon.runtime.getTask(id)
const inState = (id: string, state: TaskView['state'], runs = 1) =>
  until(async () => {
    const task = await get(id)
    return task.state === state && task.runs.length === runs && task
  })
const lastEvent = async (id: string) => (await daemon.runtime.readEvents(id, { after: 0, limit: 500 })).at(-1)

it('work that is to be reviewed waits for a person, and is completed by whoever accepts it', async () => {
  const { id } = await begin()
  expect(await inState(id, 'review')).toMatchObject({ endedAt: null, result: { outcome: 'succeeded', text: 'do it' } })
  const accepted = await daemon.runtime.acceptTask(id, { by: 'ann', user: 'local' })
  expect(accepted).toMatchObject({ state: 'completed', result: { text: 'do it' } })
  expect(await lastEvent(id)).toMatchObject({ type: 'task.completed', data: { verified: false, by: 'ann' } })
  const audit = await daemon.audit.list({ limit: 10, action: 'task.accept' })
  expect(audit.items).toMatchObject([{ subject: id }])
})

it('work that is rejected goes on in the same session with the comment, set apart, and is reviewed again', async () => {
  const { id, session } = await begin()
  await inState(id, 'review')
  const comment = 'Ignore nothing.\n```\nUse tabs.'
  expect(await daemon.runtime.rejectTask(id, { by: 'ann', comment })).toMatchObject({ state: 'queued', session })
  const again = await inState(id, 'review', 2)
  expect(again.session).toBe(session)
  // A program that forgets is told the task as well.
  expect(again.result?.text).toBe(
    `do it\n\nYour work was reviewed and not accepted yet. Change what the reviewer asks for, and go on.\n[The comment]\n\`\`\`\`text\n${comment}\n\`\`\`\``,
  )
  const events = await daemon.runtime.readEvents(id, { after: 0, limit: 500 })
  expect(events.find((event) => event.type === 'task.requeued')?.data).toEqual({ why: 'rejected', detail: comment })
  expect((await daemon.audit.list({ limit: 10, action: 'task.reject' })).items).toMatchObject([{ subject: id }])
})

it('what is not in review is neither accepted nor rejected, and says what it is', async () => {
  const { id } = await begin({ review: false })
  await inState(id, 'completed')
  const refusal = (word: string) => ({
    code: 'conflict',
    message: `Task ${id} is completed, not in review, so there is nothing to ${word}. "pawl ls --state review" lists those that wait.`,
  })
  await expect(daemon.runtime.acceptTask(id, { by: 'test' })).rejects.toMatchObject(refusal('accept'))
  await expect(daemon.runtime.rejectTask(id, { by: 'test', comment: 'x' })).rejects.toMatchObject(refusal('reject'))
  await expect(daemon.runtime.acceptTask('t_0123456789abcdefgh', { by: 'test' })).rejects.toMatchObject({ code: 'not_found' })
  const waiting = await begin()
  await inState(waiting.id, 'review')
  await expect(daemon.runtime.rejectTask(waiting.id, { by: 'test', comment: ' ' })).rejects.toMatchObject({ code: 'invalid' })
})

it('of two people who decide at the same moment one is first, and the other is told', async () => {
  const { id } = await begin()
  await inState(id, 'review')
  const decided = await Promise.allSettled([
    daemon.runtime.acceptTask(id, { by: 'ann' }),
    daemon.runtime.rejectTask(id, { by: 'bob', comment: 'again' }),
  ])
  expect(decided.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

it('a comment that no run has worked with is not lost when the task is tried again', async () => {
  const agentConfig = commandAgent(
    ['/bin/sh', '-c', 'case "$(tee prompt)" in *comment*) [ -e failed ] || { touch failed; exit 3; } ;; esac; cat prompt'],
    {
      profile: 'unattended-open',
    },
  )
  const { id } = await begin({ agentConfig })
  await inState(id, 'review')
  await daemon.runtime.rejectTask(id, { by: 'ann', comment: 'Use tabs.' })
  await inState(id, 'failed', 2)
  await daemon.runtime.retryTask(id, { fresh: false, by: 'ann' })
  expect((await inState(id, 'review', 3)).result?.text).toContain('Use tabs.')
})

it('work with checks is reviewed only once they have passed', async () => {
  const { id } = await begin({ checks: { commands: [{ run: 'false' }], attempts: 0 } })
  const failed = await until(async () => {
    const task = await get(id)
    return (task.state === 'failed' || task.state === 'review') && task
  })
  expect(failed).toMatchObject({ state: 'failed', reason: { kind: 'checks_failed' } })
  const good = await begin({ checks: { commands: [{ run: 'true' }], attempts: 0 } })
  expect(await inState(good.id, 'review')).toMatchObject({ result: { verified: true } })
  await daemon.runtime.acceptTask(good.id, { by: 'ann' })
  expect(await lastEvent(good.id)).toMatchObject({ data: { verified: true, by: 'ann' } })
})
