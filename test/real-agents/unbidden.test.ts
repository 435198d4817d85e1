import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type Machine, programs, startMachine } from './peer.ts'

const [claude, codex] = programs as [(typeof programs)[0], (typeof programs)[0]]

/** Tools of Claude Code that make it work again by itself after the turn, and how a model calls them. */
const calls = {
  CronCreate: { cron: '* * * * *', prompt: 'go on', recurring: true },
  ScheduleWakeup: { delaySeconds: 60, reason: 'to look again', prompt: 'go on' },
  Monitor: { description: 'ticks', command: 'while :; do echo tick; sleep 0.2; done', timeout_ms: 60_000 },
  Workflow: { script: 'export const meta = { name: "x", description: "x" }; return 1' },
} as const

let machine: Machine
let models: ModelServer
beforeAll(async () => {
  const steps = Object.entries(calls).map(([tool, args]) => ({ text: 'Later.', toolCall: { tool: `named:${tool}`, args } }))
  const scenarios = { unbidden: { about: 'Calls each of them in turn.', steps: [...steps, { text: 'Done.' }] } }
  machine = await startMachine()
  models = await startModelServer({ scenarios })
})
afterAll(async () => {
  await machine.stop()
  await models.close()
})

const toolsOf = (key: string) =>
  models.requestsOf(key).flatMap(({ body }) => (body as { tools?: { name?: string }[] }).tools?.map(({ name }) => name) ?? [])

test('the real claude has none of the tools that would make it work again, and calling them does nothing', async () => {
  const agentConfig = machine.agent(claude, '', { baseUrl: models.base('unbidden', 'unbidden-claude') })
  const { task, events } = await machine.run({ agentConfig })
  expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('Done.') } })
  const outputs = events.flatMap((event) => (event.type === 'agent.tool_returned' ? [event.data.output] : []))
  expect(outputs).toEqual(Object.keys(calls).map(() => expect.stringContaining('No such tool available')))
  const tools = toolsOf('unbidden-claude')
  expect(tools).toContain('Bash')
  for (const name of Object.keys(calls)) expect(tools).not.toContain(name)
  // The program is as good as before.
  expect((await machine.daemon.runtime.health()).warm.map(({ session }) => session)).toContain(task.session)
})

test('the real codex has no goals to follow by itself', async () => {
  const agentConfig = machine.agent(codex, '', { baseUrl: `${models.base('text', 'unbidden-codex')}/v1` })
  expect((await machine.run({ agentConfig })).task.state).toBe('completed')
  const tools = toolsOf('unbidden-codex')
  expect(tools.length).toBeGreaterThan(3)
  expect(tools.filter((name) => /goal/i.test(String(name)))).toEqual([])
})
