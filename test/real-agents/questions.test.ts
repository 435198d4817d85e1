import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { eventsUntil, isResting } from '../engine/home.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

const twentyDays = 20 * 86_400_000
const { guarded } = builtinProfiles
/** Every command that prints a file is asked about. */
const asking = { profile: 'mine', rights: { ...guarded, name: 'mine', rules: { ...guarded.rules, ask: ['Bash(cat:*)'] } } }

/** What is asked about by each program and answered long after, by the scenario that asks. */
const asksOf = { ask: {}, 'mcp-ask': {}, 'tool-twice': asking, tool: asking } as const
type Asks = keyof typeof asksOf

let machine: Machine
const left = new Map<string, TaskView>()
beforeAll(async () => {
  machine = await startMachine()
  for (const program of programs)
    for (const [scenario, changes] of Object.entries(asksOf)) {
      const agentConfig = machine.agent(program, scenario, changes)
      const { task } = await machine.run({ agentConfig, workspace: await machine.workspace() })
      left.set(`${program.agent} ${scenario}`, task)
    }
  await machine.restart(twentyDays)
}, 300_000)
afterAll(() => machine.stop())

/** A task that has waited for twenty days, and over a restart. */
const waiting = (program: Program, scenario: Asks) => {
  const task = left.get(`${program.agent} ${scenario}`)!
  expect(task).toMatchObject({ state: 'blocked', questions: [{ state: 'pending' }] })
  return task
}
const answer = (task: TaskView, given: string, index = 0) =>
  machine.daemon.runtime.answerQuestion(task.questions[index]!.id, given, { by: 'test' })
const completed = async (id: string) => {
  await eventsUntil(machine.daemon, id, (event) => event.type === 'task.completed', 45_000)
  return machine.daemon.runtime.getTask(id)
}
/** All that the model was told. */
const told = () => JSON.stringify(machine.models.requests.at(-1)?.body)

/** Somebody sits there, and answers whatever is asked as soon as they see it. */
async function attended(task: Partial<NewTask>, given: string): Promise<TaskView> {
  const { runtime } = machine.daemon
  const { task: made } = await runtime.createTask({ prompt: 'first message', ...task }, { by: 'test' })
  const done = new AbortController()
  const timer = setTimeout(() => done.abort(), 45_000)
  for await (const batch of runtime.followEvents(made.id, { after: 0, signal: done.signal, attends: true })) {
    for (const event of batch)
      if (event.type === 'question.asked') await runtime.answerQuestion(event.data.questionId, given, { by: 'test' })
    if (batch.some(isResting)) break
  }
  clearTimeout(timer)
  return runtime.getTask(made.id)
}

describe.each(programs)('the real $agent', (program) => {
  test.each(['ask', 'mcp-ask'] as const)(
    'hears the answer to a question (%s) that comes days later, after a restart',
    async (scenario) => {
      const task = waiting(program, scenario)
      await answer(task, 'Blue')
      expect(await completed(task.id)).toMatchObject({ result: { text: 'Answer heard: Blue' }, session: task.session })
    },
  )

  test('goes on in the same run when somebody who watches answers its own question at once', async () => {
    const task = await attended({ agentConfig: machine.agent(program, 'ask') }, 'Blue')
    expect(task).toMatchObject({ state: 'completed', questions: [{ state: 'answered', answer: 'Blue' }] })
    expect(task.runs).toHaveLength(1)
    expect(task.result?.text).toMatch(/^Answer received: .*Blue/s)
  })

  test('goes on in the same run when somebody who watches answers what it asked by our tool', async () => {
    const task = await attended({ agentConfig: machine.agent(program, 'mcp-ask') }, 'Blue')
    expect(task.runs).toHaveLength(1)
    expect(task.result?.text).toContain('The user answered: Blue')
  })

  test.each([
    ['Allow once', true],
    ['not today', false],
  ])('is told "%s" at once by somebody who watches, in the same run', async (given, isDone) => {
    const workspace = await machine.workspace()
    const task = await attended({ agentConfig: machine.agent(program, 'tool', asking), workspace }, given)
    expect(task).toMatchObject({ state: 'completed', questions: [{ kind: 'permission', state: 'answered' }] })
    expect(task.runs).toHaveLength(1)
    expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(isDone)
    if (!isDone) expect(told()).toContain('A person said no to this: not today')
  })

  test('uses a permission that was given days later, after a restart, once and for that very call', async () => {
    const task = waiting(program, 'tool-twice')
    const { workspace } = task
    expect(task).toMatchObject({ questions: [{ kind: 'permission' }] })
    await answer(task, 'Allow once')
    let blocked = 0
    await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.blocked' && ++blocked === 2, 45_000)
    const again = await machine.daemon.runtime.getTask(task.id)
    // The first call was made, the second one, which is the same, is asked about anew.
    expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8')).toBe('once\n')
    expect(again.questions.map((question) => question.state)).toEqual(['answered', 'pending'])
    expect(await machine.grants(task.id)).toMatchObject([{ verdict: 'allow', is_once: true, used_by_run: again.runs[1]?.id }])
    expect(told()).toContain('is allowed, once. Make it again now, exactly as it was')
    await answer(again, 'Deny', 1)
    const done = await completed(task.id)
    expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8')).toBe('once\n')
    expect(done.runs.at(-1)).toMatchObject({ outcome: 'succeeded' })
  })

  test('does not do what was denied days later, after a restart, and is told so', async () => {
    const task = waiting(program, 'tool')
    await answer(task, 'too dangerous')
    expect((await completed(task.id)).questions).toHaveLength(1)
    expect(existsSync(join(task.workspace, 'tool-out.txt'))).toBe(false)
    expect(told()).toContain('is denied: too dangerous')
  })
})
