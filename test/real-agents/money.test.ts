import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asObject, type Fields, fieldsOf } from '../../src/domain/base/object.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { eventsUntil, isResting } from '../engine/home.ts'
import { geminiProgram, type Machine, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const usageOf = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'agent.usage' ? [event.data] : []))

describe.each(programs)('the real $agent in a loop that costs, past the gateway', (program) => {
  test('is stopped soon after its cap, keeps what it cost, and goes on with a larger one', async () => {
    const workspace = await machine.workspace()
    const cap = 2
    const agentConfig = machine.agent(program, 'expensive-loop', { gateway: false, budget: { usd: cap } })
    const { task, events } = await machine.run({ agentConfig, workspace })
    expect(task).toMatchObject({ state: 'over_budget', reason: { kind: 'budget_exceeded' }, runs: [{ outcome: 'over_budget' }] })
    // The price of Codex's scripted model is known to nobody, so that it counts as the dearest.
    expect(task.reason?.detail).toMatch(/budget/)
    expect(task.result?.usage?.inputTokens).toBeGreaterThanOrEqual(400_000)
    expect(task.result?.usage?.inputTokens).toBeLessThanOrEqual(1_200_000)
    if (program.agent === 'claude') {
      expect(task.result?.costUsd).toBeGreaterThanOrEqual(cap)
      expect(task.result?.costUsd).toBeLessThan(cap + 2 * 0.7)
    } else expect(task.result?.costKnown).toBe('unknown')
    expect(readFileSync(join(workspace, 'loop.txt'), 'utf8').split('\n').length).toBeLessThan(8)
    expect(usageOf(events).length).toBeGreaterThanOrEqual(2)
    expect(task.cost.usd ?? null).toBe(task.result?.costUsd ?? null)

    const before = events.at(-1)!.seq
    await machine.daemon.runtime.retryTask(task.id, { by: 'test', fresh: false, budget: { usd: 100 } })
    await eventsUntil(machine.daemon, task.id, (event) => event.seq > before && isResting(event), 45_000)
    const after = await machine.daemon.runtime.getTask(task.id)
    expect(after).toMatchObject({ state: 'completed', result: { text: 'Went on after 2 prompts.' } })
    if (program.agent === 'claude') expect(after.result?.costUsd).toBeGreaterThan(task.result?.costUsd ?? Number.NaN)
  })
})

describe.each(programs)('the real $agent in a loop that costs, through the gateway', (program) => {
  test('never passes its cap, is booked as the provider bills it, and goes on with a larger one', async () => {
    const cap = 1
    const model = program.agent === 'claude' ? program.model : 'gpt-5-codex'
    const agentConfig = machine.agent(program, 'costly-loop', { model, budget: { usd: cap } })
    const { task, events } = await machine.run({ agentConfig, workspace: await machine.workspace() })
    expect(task).toMatchObject({ state: 'over_budget', reason: { kind: 'budget_exceeded' }, runs: [{ outcome: 'over_budget' }] })
    expect(task.reason?.detail).toMatch(/the next call of .* could cost up to \$.* is left/)
    const calls = events.flatMap((event) => (event.type === 'model.called' && event.data.usage ? [event.data] : []))
    expect(calls.length).toBeGreaterThanOrEqual(4)
    const priceOfCall = program.agent === 'claude' ? (10_000 * 3 + 4_000 * 15) / 1e6 : (10_000 * 1.25 + 4_000 * 10) / 1e6
    expect(task.cost).toMatchObject({ usd: expect.closeTo(calls.length * priceOfCall, 6), known: 'priced' })
    expect(task.cost.usd).toBeLessThanOrEqual(cap)
    // Both ask for answers that could cost more than the cap; they are bounded to what is left until hardly anything is.
    expect(task.cost.usd).toBeGreaterThan(cap / 2)

    const before = events.at(-1)!.seq
    await machine.daemon.runtime.retryTask(task.id, { by: 'test', fresh: false, budget: { usd: 100 } })
    await eventsUntil(machine.daemon, task.id, (event) => event.seq > before && isResting(event), 45_000)
    expect(await machine.daemon.runtime.getTask(task.id)).toMatchObject({
      state: 'completed',
      result: { text: 'Went on after 2 prompts.' },
    })
  })
})

/** Budgets into which the answers that they ask for by themselves would not fit. */
const small = [
  { program: programs[0]!, model: 'claude-sonnet-4-5', usd: 0.5, api: '' },
  { program: programs[1]!, model: 'gpt-5-codex', usd: 0.2, api: '/v1' },
  { program: geminiProgram, model: 'gemini-2.5-pro', usd: 0.2, api: '' },
] as const
describe.each(small)('the real $program.agent with a small budget', ({ program, model, usd, api }) => {
  test('begins and ends its work: its answers, thoughts included, are bounded to what is left', async () => {
    const key = `small-${program.agent}`
    const baseUrl = `${machine.models.base('text', key)}${api}`
    const agentConfig = machine.agent(program, 'text', { model, baseUrl, budget: { usd } })
    const { task, events } = await machine.run({ agentConfig, workspace: await machine.workspace() })
    expect(task.reason?.detail ?? '').toBe('')
    expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('Hello') } })
    expect(events.filter(({ type }) => type === 'model.called').length).toBeGreaterThan(0)
    const asked = machine.models.requestsOf(key).filter(({ wire }) => wire !== undefined)
    for (const { body } of asked) {
      const { most, thought } = boundsOf(body)
      expect(most).toBeGreaterThanOrEqual(4_096)
      expect(most).toBeLessThanOrEqual(32_000)
      expect(thought).toBeLessThan(most)
    }
  })
})

function boundsOf(body: unknown): { most: number; thought: number } {
  const config: Fields = asObject(fieldsOf(body).generationConfig) ?? fieldsOf(body)
  const thinking = fieldsOf(config.thinking ?? config.thinkingConfig)
  return {
    most: Number(config.max_tokens ?? config.max_output_tokens ?? config.maxOutputTokens),
    thought: Number(thinking.budget_tokens ?? thinking.thinkingBudget ?? 0),
  }
}

test('the real claude whose tool fails the same way five times is stopped, with what it said and cost', async () => {
  const [claude] = programs
  const { task } = await machine.run({ agentConfig: machine.agent(claude!, 'failing-tool') })
  expect(task).toMatchObject({
    state: 'failed',
    reason: {
      kind: 'guardrail_tripped',
      detail: expect.stringMatching(/Bash failed 5 times in a row with the same error: .*No such file/),
    },
    result: { outcome: 'tripped', text: expect.stringContaining('Trying.') },
  })
  expect(task.result?.costUsd).toBeGreaterThan(0)
  expect(task.result?.usage?.turns).toBeGreaterThanOrEqual(5)
})
