import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Event } from '../../src/domain/event/event.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  const settings = {
    timeouts: { warm: 0 },
    prices: { 'a-*': { input: 1, output: 2 } },
    budget: { userDay: 1000 },
    guardrails: { sameError: 4, models: { 'a-patient-*': { sameCall: 0 } } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings))
  folder = await mkdtemp(join(tmpdir(), 'pawl-money-'))
  await chmod(folder, 0o755)
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  const script = `#!/bin/sh\nexec "${process.execPath}" "${folder}/fake-claude.js" "$@"\n`
  await writeFile(join(folder, 'claude'), script, { mode: 0o755 })
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

const agent = (changes: Partial<ResolvedAgent> = {}) =>
  ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    // It tells of calls that it does not make.
    gateway: false,
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    graceMs: 1_000,
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    ...changes,
  })
let calls = 0
/** A message of the model that used so many million tokens and, perhaps, a tool. */
const message = (millions: number, ...content: object[]) => ({
  line: {
    type: 'assistant',
    message: {
      ...{ id: `msg_${++calls}`, model: 'a-model', content },
      usage: { input_tokens: millions * 1e6, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    },
  },
})
const text = (said: string) => ({ type: 'text', text: said })
const tool = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const returned = (id: string, content: string, isError = false) => ({
  line: { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] } },
})
const finish = async (steps: object[], changes: Partial<ResolvedAgent> = {}, task: Partial<NewTask> = {}) => {
  const { task: made } = await daemon.runtime.createTask(
    { prompt: JSON.stringify(steps), agentConfig: agent(changes), ...task },
    { by: 'test' },
  )
  const events = await eventsUntil(daemon, made.id, isResting)
  return { events, task: await daemon.runtime.getTask(made.id) }
}
const again = async (id: string, more: Parameters<Daemon['runtime']['retryTask']>[1]) => {
  const before = (await daemon.runtime.readEvents(id, { after: 0, limit: 1000 })).at(-1)!.seq
  await daemon.runtime.retryTask(id, more)
  await eventsUntil(daemon, id, (event) => event.seq > before && isResting(event))
  return daemon.runtime.getTask(id)
}
const usageOf = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'agent.usage' ? [event.data] : []))

it('a task that has used up its budget is stopped, keeps what it said and cost, and goes on with a raised cap', async () => {
  const spends = [message(2, text('one')), message(2, text('two')), { hang: true }]
  const { task, events } = await finish(spends, { budget: { usd: 3 } })
  expect(task).toMatchObject({
    state: 'over_budget',
    reason: {
      kind: 'budget_exceeded',
      detail: expect.stringMatching(/has used \$4\.00 .* its budget is \$3\.00.*--budget-usd 8/),
    },
    result: {
      outcome: 'over_budget',
      text: 'one\ntwo',
      costUsd: expect.closeTo(4, 3),
      costKnown: 'priced',
      usage: { inputTokens: 4e6 },
    },
    runs: [{ outcome: 'over_budget', category: 'budget_exceeded', costUsd: expect.closeTo(4, 3) }],
  })
  expect(usageOf(events).slice(0, 2)).toMatchObject([
    { model: 'a-model', costUsd: 2, known: 'priced' },
    { costUsd: 2, known: 'priced' },
  ])
  // Without a larger cap no agent is started again.
  const refused = await again(task.id, { by: 'test', fresh: false })
  expect(refused).toMatchObject({
    state: 'over_budget',
    result: { costUsd: expect.closeTo(4, 3) },
    runs: [{}, { outcome: 'over_budget', walls: null }],
  })
  const raised = await again(task.id, { by: 'test', fresh: false, budget: { usd: 7 } })
  expect(raised).toMatchObject({ state: 'completed', runs: [{}, {}, { outcome: 'succeeded' }] })
  expect(raised.result?.costUsd).toBeGreaterThan(4)
})

it('the last event of a task carries the totals of all its runs, and a run that goes on says from its start what they were so far', async () => {
  const { task, events } = await finish([message(2, text('one')), { hang: true }], { budget: { usd: 1 } })
  const first = { runs: 1, usage: { inputTokens: 2e6 }, costUsd: expect.closeTo(2, 3), known: 'priced' }
  expect(events.at(-1)).toMatchObject({ type: 'task.over_budget', data: { totals: first } })
  expect(events.find(({ type }) => type === 'run.started')?.data).not.toHaveProperty('soFar')
  await again(task.id, { by: 'test', fresh: false, budget: { usd: 3 } })
  const later = (await daemon.runtime.readEvents(task.id, { after: events.at(-1)!.seq, limit: 1000 })).map(({ type, data }) => ({
    type,
    data,
  }))
  expect(later.find(({ type }) => type === 'run.started')).toMatchObject({ data: { soFar: first } })
  const { runs, result } = await daemon.runtime.getTask(task.id)
  const usage = { inputTokens: runs.reduce((sum, run) => sum + (run.usage?.inputTokens ?? 0), 0) }
  const ranMs = runs.reduce((sum, run) => sum + Date.parse(run.endedAt!) - Date.parse(run.startedAt!), 0)
  const ends = later.filter(({ type }) => /^task\.(completed|failed|over_budget)$/.test(type))
  expect(ends).toMatchObject([{ data: { totals: { runs: 2, usage, costUsd: result?.costUsd, known: 'priced' } } }])
  const { durationMs } = (ends[0]!.data as { totals: { durationMs: number } }).totals
  expect(Math.abs(durationMs - ranMs)).toBeLessThan(3_000)
})

it('tokens, turns and time of a task are held too', async () => {
  const tokens = await finish([message(1, text('one')), { hang: true }], { budget: { tokens: 500_000 } })
  expect(tokens.task).toMatchObject({ state: 'over_budget', reason: { detail: expect.stringContaining('1000000 tokens') } })
  const turns = await finish(
    [message(0.1, text('one')), message(0.1, text('two')), message(0.1, text('three')), { hang: true }],
    {
      budget: { turns: 2 },
    },
  )
  expect(turns.task).toMatchObject({ state: 'failed', reason: { kind: 'max_turns', detail: expect.stringContaining('2 turns') } })
  const time = await finish([{ say: 'begun' }, { hang: true }], { budget: { wallMs: 1_500 } })
  expect(time.task).toMatchObject({ state: 'over_budget', reason: { detail: expect.stringContaining('budget.wallMs: 1.5 s') } })
}, 60_000)

it('a budget of nothing stops a task at the first thing that costs something', async () => {
  const free = await finish([{ line: { type: 'result', subtype: 'success', is_error: false, result: 'free', usage: {} } }], {
    budget: { usd: 0 },
  })
  expect(free.task).toMatchObject({ state: 'completed', result: { text: 'free' } })
  const paid = await finish([message(1, text('one')), { hang: true }], { budget: { usd: 0 } })
  expect(paid.task).toMatchObject({ state: 'over_budget', reason: { detail: expect.stringContaining('its budget is $0.00') } })
})

it('an agent has a budget for the day, over all its tasks', async () => {
  const changes = { name: 'daily', budget: { perAgentDayUsd: 3 } }
  expect((await finish([message(2, text('one'))], changes)).task.state).toBe('completed')
  const second = await finish([message(2, text('two')), { hang: true }], changes)
  expect(second.task.reason?.detail).toMatch(/agent daily has used \$4\.00 today; it may use \$3\.00 a day/)
  const third = await finish([{ say: 'never' }], changes)
  expect(third.task).toMatchObject({ state: 'over_budget', runs: [{ outcome: 'over_budget', walls: null }] })
}, 60_000)

it('a price that nobody knows is unknown, and counts as the dearest', async () => {
  const { task, events } = await finish([message(1, text('one')), { hang: true }].map(odd), { model: 'odd', budget: { usd: 3 } })
  expect(usageOf(events)[0]).toMatchObject({ model: 'odd', known: 'unknown' })
  expect(task).toMatchObject({ state: 'over_budget', result: { costUsd: null, costKnown: 'unknown' } })
})
const odd = (step: object) => JSON.parse(JSON.stringify(step).replaceAll('a-model', 'odd')) as object

it('an agent whose tool fails the same way again and again is stopped, and its words and cost are kept', async () => {
  const loop = Array.from({ length: 6 }, (_, index) => [
    message(0.1, text(`try ${index}`), tool(`t${index}`, 'Bash', { command: `make -j${index}` })),
    returned(`t${index}`, `make: *** [all] Error ${index}`, true),
  ]).flat()
  const { task, events } = await finish([...loop, { hang: true }])
  expect(task).toMatchObject({
    state: 'failed',
    reason: {
      kind: 'guardrail_tripped',
      detail: expect.stringMatching(/Bash failed 4 times in a row with the same error: make: \*\*\* \[all\] Error <number>/),
    },
    result: { outcome: 'tripped', text: expect.stringContaining('try 3') },
    runs: [{ outcome: 'tripped', category: 'guardrail_tripped' }],
  })
  // What tripped it is stored like everything else.
  const fourth = events.findIndex((event) => event.type === 'agent.tool_returned' && event.data.callId === 't3')
  expect(fourth).toBeGreaterThan(0)
  expect(events.findIndex((event) => event.type === 'run.ended')).toBeGreaterThan(fourth)
  expect(task.result?.costUsd).toBeGreaterThanOrEqual(0.4)
  expect(task.result?.usage?.turns).toBeGreaterThanOrEqual(4)
  expect(events.filter((event) => event.type === 'run.ended').map((event) => event.data)).toMatchObject([
    { outcome: 'tripped', category: 'guardrail_tripped', costUsd: task.result?.costUsd },
  ])
})

it('guardrails are set for models by pattern', async () => {
  const loop = (model: string) =>
    Array.from({ length: 6 }, (_, index) => [message(0, tool(`t${index}`, 'Read', { path: 'a' })), returned(`t${index}`, 'x')])
      .flat()
      .map((step) => JSON.parse(JSON.stringify(step).replaceAll('a-model', model)) as object)
  expect((await finish([...loop('a-model'), { say: 'done' }])).task.reason?.kind).toBe('guardrail_tripped')
  const patient = await finish([...loop('a-patient-model'), { say: 'done' }], { model: 'a-patient-model' })
  expect(patient.task.state).toBe('completed')
})

it('keeping a list of things to do is told of, and no turn that is shown', async () => {
  const todo = Array.from({ length: 3 }, (_, index) => [
    message(0.001, tool(`t${index}`, 'TodoWrite', { index })),
    returned(`t${index}`, 'ok'),
  ]).flat()
  const { task, events } = await finish([...todo, message(0.001, text('done')), { exit: 0 }])
  expect(events.flatMap((event) => (event.type === 'run.noted' && event.data.code === 'todo_only' ? [event] : []))).toHaveLength(
    1,
  )
  expect(task.runs[0]?.usage?.turns).toBe(1)
})

it('a task whose tries come to the same end three times waits for somebody, who can go on with it', async () => {
  const agentConfig = commandAgent(['echo', 'did it'])
  const checks = { commands: [{ run: 'test -e proof' }], attempts: 9 }
  const { task: made } = await daemon.runtime.createTask({ prompt: 'x', agentConfig, checks }, { by: 'test' })
  await eventsUntil(daemon, made.id, isResting)
  const task = await daemon.runtime.getTask(made.id)
  expect(task).toMatchObject({
    state: 'blocked',
    reason: { kind: 'no_progress', detail: expect.stringMatching(/^3 runs in a row came to the same end/) },
  })
  expect(task.runs).toHaveLength(3)
  // Whoever has looked at it lets it try as often again.
  const tried = await again(task.id, { by: 'test', fresh: false })
  expect([tried.state, tried.runs.length]).toEqual(['blocked', 6])
  await writeFile(join(task.workspace, 'proof'), '')
  expect(await again(task.id, { by: 'test', fresh: false })).toMatchObject({ state: 'completed' })
}, 60_000)

it('a budget that is too small for one request is told of when the task is made', async () => {
  const made = async (usd: number) => {
    const agentConfig = agent({ model: 'claude-sonnet-4-5', budget: { usd } })
    const { gateway: _, ...served } = agentConfig
    const { task } = await daemon.runtime.createTask({ prompt: 'go', agentConfig: served }, { by: 'test' })
    await daemon.runtime.cancelTask(task.id, { now: true, by: 'test' })
    return (await daemon.runtime.readEvents(task.id, { after: 0, limit: 1 }))[0]
  }
  expect(await made(0.01)).toMatchObject({
    type: 'task.queued',
    data: { warning: expect.stringMatching(/^The first request of claude-sonnet-4-5 can cost about .* Use --budget-usd/) },
  })
  expect((await made(5))?.data).not.toHaveProperty('warning')
})
