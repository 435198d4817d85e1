import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { Budget } from '../../src/domain/agent/agent-config.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from '../engine/home.ts'
import { startModelServer } from '../model-server/server.ts'

const usage = { input: 800, output: 40, cacheRead: 100, cacheWrite: 0, reasoning: 0 }
const answerUsd = (usage.input + usage.output) / 1000
const script = { about: 'Says one sentence.', steps: [{ text: 'one two three', usage, repeat: 'always' as const }] }

/** Calls a model at its door, some calls at once, so many times; hears no refusal; and claims costs of its own. */
const agentCode = `
  const [times, atOnce] = process.argv.slice(2, 4).map(Number)
  const body = JSON.stringify({ model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Say one sentence, please.' }] })
  const headers = { 'x-api-key': process.env.PAWL_DOOR_TOKEN, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  const call = () => fetch(process.env.PAWL_DOOR_URL + '/model/v1/messages', { method: 'POST', headers, body }).then((answer) => answer.text(), () => undefined)
  console.log(JSON.stringify({ text: 'working', cost: 99, in: 123456 }))
  for (let time = 0; time < times; time++) await Promise.all(Array.from({ length: atOnce }, call))
  console.log(JSON.stringify({ text: 'done', cost: 99, in: 123456 }))
`

let home: Awaited<ReturnType<typeof makeHome>>
let models: Awaited<ReturnType<typeof startModelServer>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  models = await startModelServer({ maxRequests: 5_000, scenarios: { billed: script } })
  await writeFile(join(home.path, 'agent.mjs'), agentCode)
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ prices: { m: { input: 1000, output: 1000 } } }))
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await models.close()
  await home.remove()
})

const run = async (key: string, times: number, atOnce: number, budget: Budget) => {
  const command = [process.execPath, join(home.path, 'agent.mjs'), String(times), String(atOnce)]
  const served = {
    model: 'm',
    models: {
      providers: { maker: { kind: 'anthropic' as const, baseUrl: models.base('billed', key), wire: 'anthropic' as const } },
      models: { m: { provider: 'maker' } },
    },
  }
  const map = { text: 'text', costUsd: 'cost', inputTokens: 'in' }
  const agentConfig = commandAgent(command, { budget, profile: 'unattended-open', ...served })
  const options = { ...(agentConfig.options as object), output: 'jsonl', map, modelFlag: '--model' }
  const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig: { ...agentConfig, options } }, { by: 'test' })
  const events = await eventsUntil(daemon, task.id, isResting)
  return { events, task: await daemon.runtime.getTask(task.id), bill: models.requestsOf(key).length * answerUsd }
}
const callsOf = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'model.called' ? [event.data] : []))

it('what a task cost is what its provider asks for, whatever the program says of itself', async () => {
  const { events, task, bill } = await run('honest', 3, 1, { usd: 5 })
  expect(task.state).toBe('completed')
  expect(bill).toBeCloseTo(3 * answerUsd, 9)
  expect(task.cost.usd).toBeCloseTo(bill, 9)
  expect(task.result?.costUsd).toBeCloseTo(bill, 9)
  expect(task.runs[0]?.usage).toEqual({
    ...{ inputTokens: 2_100, outputTokens: 120, cacheReadTokens: 300, cacheWriteTokens: 0 },
    turns: 3,
  })
  expect(events.some((event) => event.type === 'agent.usage')).toBe(false)
  expect(callsOf(events).map(({ number, provider, target, known }) => ({ number, provider, target, known }))).toEqual(
    [1, 2, 3].map((number) => ({ number, provider: 'maker', target: 'm', known: 'priced' })),
  )
})

it('a task stops at its budget, whatever its agent does, and goes on with more when somebody allows it', async () => {
  const { task, bill } = await run('deaf', 1_000, 8, { usd: 20 })
  expect(task.state).toBe('over_budget')
  expect(task.reason?.detail).toMatch(/its budget is \$20\.00: the next call of m could cost up to .*pawl task retry/)
  expect(bill).toBeLessThanOrEqual(20)
  expect(bill).toBeGreaterThan(18.5)
  expect(task.cost.usd).toBeCloseTo(bill, 9)
  await daemon.runtime.retryTask(task.id, { by: 'test', budget: { usd: 40 } })
  const after = await until(async () => {
    const now = await daemon.runtime.getTask(task.id)
    return now.state === 'over_budget' && now.runs.length > task.runs.length && now
  })
  const spent = models.requestsOf('deaf').length * answerUsd
  expect(spent).toBeLessThanOrEqual(40)
  expect(spent).toBeGreaterThan(38.5)
  expect(after.cost.usd).toBeCloseTo(spent, 9)
})

it('turns and tokens are held by what the gateway counts', async () => {
  const { task } = await run('turns', 1_000, 1, { usd: 50, turns: 5 })
  expect(task.reason?.detail ?? '').toContain('more than the 5 turns')
  expect(models.requestsOf('turns').length).toBeLessThan(20)
  const tokens = await run('tokens', 1_000, 1, { usd: 50, tokens: 2_000 })
  expect(tokens.task).toMatchObject({ state: 'over_budget' })
  expect(tokens.task.reason?.detail).toContain('it may use 2000')
})

it('costs are summed by provider and by model', async () => {
  const byProvider = await daemon.runtime.listCosts({ by: 'provider' })
  expect(byProvider.items.map(({ key }) => key)).toEqual(['maker'])
  const byModel = await daemon.runtime.listCosts({ by: 'model' })
  expect(byModel.items.map(({ key, known }) => ({ key, known }))).toEqual([{ key: 'm', known: 'priced' }])
  expect(byModel.total.usd).toBeCloseTo(byProvider.total.usd ?? 0, 9)
})
