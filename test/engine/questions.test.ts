import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

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

/** Says what it hears once that has answers, after whatever comes `first`; before, asks and does what comes `then`. */
const asking = (questions: readonly string[], then = '', first = 'true') => {
  const ask = questions
    .map(
      (text) =>
        `curl -s -o /dev/null -H "authorization: Bearer $PAWL_DOOR_TOKEN" -d '${JSON.stringify({ text })}' "$PAWL_DOOR_URL/v1/questions"`,
    )
    .join('; ')
  const script = `prompt=$(cat); case "$prompt" in *"The answer"*) ${first}; echo "$prompt" ;; *) ${ask}; ${then} ;; esac`
  return commandAgent(['/bin/sh', '-c', script], { profile: 'unattended-open' })
}
const begin = async (agentConfig: ReturnType<typeof asking>) =>
  (await daemon.runtime.createTask({ prompt: 'decide', agentConfig }, { by: 'test' })).task
const answer = (id: string, text: string) => daemon.runtime.answerQuestion(id, text, { by: 'test' })
const heard = async (id: string) => {
  await until(async () => (await daemon.runtime.getTask(id)).state === 'completed')
  const task = await daemon.runtime.getTask(id)
  expect(task.runs).toHaveLength(2)
  return task.result!.text.match(/(?<=```text\n).*(?=\n```)/g)
}

it('a task that asks twice waits for both answers and hears both, in whatever order they come', async () => {
  const { id } = await begin(asking(['Which port?', 'Which host?']))
  await eventsUntil(daemon, id, isResting)
  const [port, host] = (await daemon.runtime.getTask(id)).questions
  await answer(host!.id, 'here')
  expect(await daemon.runtime.getTask(id)).toMatchObject({ state: 'blocked', reason: { kind: 'question', detail: port!.id } })
  await answer(port!.id, '80')
  expect(await heard(id)).toEqual(['Which port?', '80', 'Which host?', 'here'])
})

it('an answer that comes while the agent still works waits for the other one', async () => {
  const { id, workspace } = await begin(asking(['Which port?', 'Which host?'], 'while [ ! -e finish ]; do sleep 0.02; done'))
  await until(async () => (await daemon.runtime.getTask(id)).questions.length === 2)
  const [port, host] = (await daemon.runtime.getTask(id)).questions
  await answer(port!.id, '80')
  await writeFile(join(workspace, 'finish'), '')
  await eventsUntil(daemon, id, isResting)
  expect(await daemon.runtime.getTask(id)).toMatchObject({ state: 'blocked', reason: { detail: host!.id } })
  await answer(host!.id, 'here')
  expect(await heard(id)).toEqual(['Which port?', '80', 'Which host?', 'here'])
})

it('answers that all come while the agent still works are heard by its next run', async () => {
  const { id, workspace } = await begin(asking(['Which port?', 'Which host?'], 'while [ ! -e finish ]; do sleep 0.02; done'))
  await until(async () => (await daemon.runtime.getTask(id)).questions.length === 2)
  for (const [index, { id: question }] of (await daemon.runtime.getTask(id)).questions.entries())
    await answer(question, ['80', 'here'][index]!)
  await writeFile(join(workspace, 'finish'), '')
  expect(await heard(id)).toEqual(['Which port?', '80', 'Which host?', 'here'])
})

it('an answer that no run has worked with is said again when the task is tried again, unless all begins anew', async () => {
  const { id } = await begin(asking(['Which port?'], '', '[ -e failed ] || { touch failed; exit 3; }'))
  await eventsUntil(daemon, id, isResting)
  await answer((await daemon.runtime.getTask(id)).questions[0]!.id, '80')
  await until(async () => (await daemon.runtime.getTask(id)).state === 'failed')
  await daemon.runtime.retryTask(id, { fresh: false, by: 'test' })
  await until(async () => (await daemon.runtime.getTask(id)).state === 'completed')
  expect((await daemon.runtime.getTask(id)).result?.text).toContain('80')
  await daemon.runtime.retryTask(id, { fresh: true, by: 'test' })
  await until(async () => (await daemon.runtime.getTask(id)).state === 'blocked')
})

it('a question ends with the task that asked it: whoever answers later is told', async () => {
  const { id } = await begin(asking(['Which port?']))
  await eventsUntil(daemon, id, isResting)
  const [port] = (await daemon.runtime.getTask(id)).questions
  await daemon.runtime.cancelTask(id, { now: false, by: 'test' })
  const { state, questions } = await daemon.runtime.getTask(id)
  expect({ state, questions }).toMatchObject({ state: 'cancelled', questions: [{ id: port!.id, state: 'cancelled' }] })
  const events = await daemon.runtime.readEvents(id, { after: 0, limit: 500 })
  expect(events.find((event) => event.type === 'question.closed')?.data).toEqual({ questionId: port!.id, state: 'cancelled' })
  await expect(answer(port!.id, '80')).rejects.toThrow('needs no answer any more')
})
