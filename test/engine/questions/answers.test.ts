import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { Daemon } from '../../../src/daemon/daemon.ts'
import type { NewTask } from '../../../src/domain/view/view.ts'
import { createBus } from '../../../src/engine/journal/bus.ts'
import { createJournal } from '../../../src/engine/journal/journal.ts'
import { createSettler } from '../../../src/engine/run/settle.ts'
import { openStore } from '../../../src/store/open.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from '../home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  await writeFile(
    join(home.path, 'config.yaml'),
    `agents:
  judge: { adapter: custom, command: [/bin/sh, -c, "cat > heard.txt; echo Blue"], profile: unattended-open }
`,
  )
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const shell = (script: string) => commandAgent(['/bin/sh', '-c', script], { profile: 'unattended-open' })
/** Leaves a question file the first time, and says what it hears the second time. */
const leaving = (content: string, exit = 0) =>
  shell(
    `prompt=$(cat); if [ -e asked ]; then echo "heard: $prompt"; else touch asked; printf '%s' '${content}' > "$PAWL_QUESTION_FILE"; exit ${exit}; fi`,
  )
const begin = async (task: Partial<NewTask> & Pick<NewTask, 'agentConfig'>) =>
  (await daemon.runtime.createTask({ prompt: 'decide', ...task }, { by: 'test' })).task.id
const rest = async (id: string) => {
  await eventsUntil(daemon, id, isResting)
  return daemon.runtime.getTask(id)
}
const view = (id: string) => daemon.runtime.getTask(id)

it.each([
  ['JSON', '{"text":"Which colour?","options":["Red","Blue"],"multiSelect":true}', 0, ['Red', 'Blue'], true],
  ['plain words', 'Which colour?', 0, [], false],
  ['a program that failed', '{"question":"Which colour?"}', 3, [], false],
])('a question file with %s blocks the task, and the answer goes on', async (_, content, exit, options, multiSelect) => {
  const id = await begin({ agentConfig: leaving(content, exit) })
  const task = await rest(id)
  expect(task).toMatchObject({
    state: 'blocked',
    questions: [{ state: 'pending', text: 'Which colour?', options, multiSelect }],
    runs: [{ outcome: 'blocked' }],
  })
  await daemon.runtime.answerQuestion(task.questions[0]!.id, 'Blue', { by: 'test' })
  await until(async () => (await view(id)).state === 'completed')
  const { result, questions } = await view(id)
  expect(result?.text).toContain('Blue')
  // The file was cleared: what was asked once is not asked again.
  expect(questions).toHaveLength(1)
})

it('a question file that cannot be asked is a note with its text, and the run ends as it ended', async () => {
  const id = await begin({ agentConfig: leaving('{"options":["Red"]}') })
  expect(await rest(id)).toMatchObject({ state: 'completed', questions: [] })
  const events = await daemon.runtime.readEvents(id, { after: 0, limit: 100 })
  expect(events.find((event) => event.type === 'run.noted' && event.data.code === 'question_file_broken')?.data).toMatchObject({
    detail: expect.stringContaining('{"options":["Red"]}'),
  })
})

it('a question file that is too long is a note with its beginning', async () => {
  const script = 'cat > /dev/null; head -c 300000 /dev/zero | tr "\\0" Q > "$PAWL_QUESTION_FILE"; echo done'
  const id = await begin({ agentConfig: shell(script) })
  expect(await rest(id)).toMatchObject({ state: 'completed', questions: [] })
  const events = await daemon.runtime.readEvents(id, { after: 0, limit: 100 })
  expect(events.find((event) => event.type === 'run.noted' && event.data.code === 'question_file_broken')?.data).toMatchObject({
    detail: expect.stringMatching(/^The question file has more than 256 KiB, so it is not asked\. It begins: QQQ/),
  })
})

it('both names of the question file lead to the same place', async () => {
  const agentConfig = shell('cat > /dev/null; [ "$PAWL_QUESTION_FILE" = "$CLAUDOMATOR_QUESTION_FILE" ] && echo same')
  expect((await rest(await begin({ agentConfig }))).result?.text).toContain('same')
})

it('an answer is bound to the exact words that were shown, counts once, and chooses options by number', async () => {
  const id = await begin({ agentConfig: leaving('{"text":"Which?","options":["Red","Blue","Green"],"multiSelect":true}') })
  const [question] = (await rest(id)).questions
  const answer = (given: Parameters<Daemon['runtime']['answerQuestion']>[1]) =>
    daemon.runtime.answerQuestion(question!.id, given, { by: 'test' })
  await expect(answer({ answer: 'Red', digest: 'sha256:0' })).rejects.toThrow(/is not the one that you were shown/)
  await expect(answer({ options: [4] })).rejects.toThrow(/has no option 4; it has 3/)
  await expect(answer({})).rejects.toThrow(/in words, or the number of an option/)
  const answered = await answer({ options: [1, 3], digest: question!.digest })
  expect(answered).toMatchObject({ answer: 'Red, Green', answeredBy: 'test' })
  expect((await answer({ options: [1, 3] })).answer).toBe('Red, Green')
  await expect(answer('Blue')).rejects.toThrow(/is answered already, by test at .*: "Red, Green"/)
})

it('only one option of a question that is no list may be chosen', async () => {
  const id = await begin({ agentConfig: leaving('{"text":"Which?","options":["Red","Blue"]}') })
  const [question] = (await rest(id)).questions
  await expect(daemon.runtime.answerQuestion(question!.id, { options: [1, 2] }, { by: 'test' })).rejects.toThrow(
    /Only one option/,
  )
})

it('only those who are named may answer', async () => {
  await daemon.entrance.createUser({ name: 'alice' }, { by: 'test' })
  const questions = { mayAnswer: ['alice', 'role:viewer'], afterDeadline: { kind: 'deny' as const } }
  const id = await begin({ agentConfig: leaving('Which?'), questions })
  const [question] = (await rest(id)).questions
  expect(question?.mayAnswer).toEqual(['alice', 'role:viewer'])
  const answer = (user: string | undefined) =>
    daemon.runtime.answerQuestion(question!.id, 'this', { by: 'api', user, standing: user ? 'operator' : undefined })
  await expect(answer('bob')).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('may be answered by alice, role:viewer only, and you are bob (role:operator)'),
  })
  await expect(answer(undefined)).rejects.toMatchObject({ code: 'denied' })
  expect((await answer('alice')).state).toBe('answered')
})

it('a deadline passes by itself in a running daemon, and another agent answers', async () => {
  const questions = { deadlineMs: 2_500, afterDeadline: { kind: 'escalate' as const, agent: 'judge' } }
  const id = await begin({ agentConfig: leaving('{"text":"Which colour?","options":["Red","Blue"]}'), questions })
  await until(async () => (await view(id)).state === 'completed', 30_000)
  const [question] = (await view(id)).questions
  expect(question).toMatchObject({ state: 'answered', answer: 'Blue', answeredBy: question?.escalatedTo })
  expect((await view(question!.escalatedTo!)).prompt).toContain('Which colour?')
})

it('what nobody has read of a run that was lost is asked by the next one', async () => {
  const agentConfig = shell('cat > /dev/null; printf "Which?" > "$PAWL_QUESTION_FILE"; touch asked; while :; do sleep 0.05; done')
  const id = await begin({ agentConfig })
  const { workspace, session } = await view(id)
  await until(() => existsSync(join(workspace, 'asked')))
  const [run] = (await view(id)).runs
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  const { database } = store
  const bus = createBus({ database, log: silentLog, self: 'w_elsewhere' })
  const parts = { bus, clock: systemClock, log: silentLog }
  const journal = createJournal({ ...parts, db: database.db, onBroken: () => undefined })
  // As somebody does who takes its worker for dead.
  const lost = { id: run!.id, taskId: id, sessionId: session, fence: run!.fence }
  expect(await createSettler({ ...parts, journal }).settleRun(lost, { outcome: 'lost', text: '' })).toBe(true)
  await bus.stop()
  await store.close()
  await until(async () => (await view(id)).state === 'blocked')
  expect(await view(id)).toMatchObject({
    questions: [{ text: 'Which?', state: 'pending' }],
    runs: [{ outcome: 'lost' }, { outcome: 'blocked' }],
  })
})
