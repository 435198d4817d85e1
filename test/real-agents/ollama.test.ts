import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsUntil, isResting } from '../engine/home.ts'
import { startModelServer } from '../model-server/server.ts'
import { type Machine, ollamaLoop, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

/** What the model was asked by tests of this file, in order. */
const chats = () => machine.models.requests.filter(({ path }) => path.endsWith('/api/chat'))
const offered = () => {
  const { tools } = chats().at(-1)!.body as { tools: { function: { name: string } }[] }
  return tools.map((tool) => tool.function.name)
}

test('a task without a model fails with a sentence that lists those of the server, and nothing is asked of any', async () => {
  const { model: _, ...agentConfig } = machine.agent(ollamaLoop, 'text')
  const { task } = await machine.run({ agentConfig, prompt: 'scripted-model' })
  expect(task).toMatchObject({
    state: 'failed',
    reason: { kind: 'bad_config', detail: expect.stringMatching(/needs a model.*--model NAME.*has scripted-model, /) },
  })
  expect(chats()).toEqual([])
})

test('a model that the server does not have is pulled if the agent says so, and how far that is is told', async () => {
  const agentConfig = machine.agent(ollamaLoop, 'text', { model: 'llama3.2', options: { pull: true } })
  const { task, events } = await machine.run({ agentConfig })
  expect(task).toMatchObject({ state: 'completed', result: { costUsd: 0 } })
  expect(events.flatMap((event) => (event.type === 'agent.stderr' ? [event.data.text] : []))).toContain(
    'llama3.2: pulling 5f0d: 50 % of 2000 MB',
  )
})

test('under strict it has none of its own tools, uses ours, and a person is asked about its commands', async () => {
  const workspace = await machine.workspace()
  const agentConfig = machine.agent(ollamaLoop, 'strict-tools', { profile: 'strict' })
  const { task } = await machine.run({ agentConfig, workspace })
  expect(task).toMatchObject({ state: 'blocked', questions: [{ kind: 'permission' }] })
  expect(readFileSync(join(workspace, 'notes.txt'), 'utf8')).toBe('hello from the tool\n')
  expect(offered().filter((name) => !name.startsWith('mcp__pawl__'))).toEqual([])
  await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', 45_000)
  expect(existsSync(join(workspace, 'shell.txt'))).toBe(true)
})

test('it works on a model of another format that the gateway serves, and past the gateway on its own', async () => {
  const { baseUrl: _, ...plain } = machine.agent(ollamaLoop, 'tool', { model: 'fast' })
  const provider = { kind: 'anthropic' as const, baseUrl: machine.models.base('tool', 'as-anthropic') }
  const models = { providers: { there: provider }, models: { fast: { provider: 'there', target: 'scripted-target' } } }
  const served = await machine.run({ agentConfig: { ...plain, models } })
  expect(served.task.result?.text).toContain('scripted-tool')
  expect(machine.models.requestsOf('as-anthropic')[0]?.wire).toBe('anthropic')

  const past = await machine.run({ agentConfig: machine.agent(ollamaLoop, 'tool', { gateway: false }) })
  expect(past.task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('scripted-tool'), costUsd: 0 } })
  expect(past.events.map(({ type }) => type)).not.toContain('model.called')
})

test('it stays between two tasks of a conversation: the second needs no start', async () => {
  const agentConfig = machine.agent(ollamaLoop, 'echo-history')
  const first = await machine.run({ agentConfig })
  const { session, workspace } = first.task
  const second = await machine.run({ agentConfig, session, workspace, prompt: 'second' })
  expect(second.task.result?.text).toBe('2 prompts: first message | second')
  // The program tells of its conversation when it opens it, once in its life.
  expect(second.events.map(({ type }) => type)).not.toContain('agent.session')
})

test('it does once more what it did, with its server gone', async () => {
  const server = await startModelServer()
  const agentConfig = machine.agent(ollamaLoop, 'tool', { baseUrl: server.base('tool') })
  const { task } = await machine.run({ agentConfig, workspace: await machine.workspace(), record: true })
  await server.close()
  const { runtime } = machine.daemon
  const replay = await runtime.replayRun(task.runs[0]!.id, {}, { by: 'test' })
  await eventsUntil(machine.daemon, replay.id, isResting, 45_000)
  expect(await runtime.getReplay(replay.id)).toMatchObject({ identical: true, calls: { live: 0, missing: [] } })
})
