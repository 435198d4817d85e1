import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { pawl } from '../e2e/pawl.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
  const agents = programs.map((program) => {
    const { baseUrl, env, model, options } = subscriber(program, 'limit-with-reset')
    // The values are in the command's own environment: a key does not belong in settings.
    const settings = { adapter: program.adapter, baseUrl, model, gateway: false, env: Object.keys(env.set), ...options }
    return [`limited-${program.agent}`, settings]
  })
  await writeFile(join(machine.home, 'config.yaml'), JSON.stringify({ agents: Object.fromEntries(agents) }))
})
afterAll(() => machine.stop())

/** Claude Code speaks of a plan, and of its end, only to whom it takes for a subscriber. Here it is the programs that tell of it; the gateway has its own tests. */
const subscription: Record<Program['agent'], string> = { claude: 'CLAUDE_CODE_OAUTH_TOKEN', codex: 'OPENAI_API_KEY' }
const subscriber = (program: Program, scenario: string, changes: Partial<ResolvedAgent> = {}) =>
  machine.agent(program, scenario, {
    env: { pass: [], set: { [subscription[program.agent]]: 'token-of-a-subscriber-0123456789' } },
    gateway: false,
    ...changes,
  })

const isEnd = (event: { type: string }) => event.type === 'task.completed' || event.type === 'task.failed'

/** Most of their time is waiting, so they wait together. */
describe.concurrent.each(programs)('the real $agent whose plan is used up', (program) => {
  test('parks the task until the plan is full again', async () => {
    const askedAtMs = Date.now()
    const { task } = await machine.run({ agentConfig: subscriber(program, 'limit-with-reset') })
    expect(task).toMatchObject({
      state: 'parked',
      reason: { kind: 'usage_limit', detail: expect.stringMatching(/hit your.* limit/) },
      runs: [{ outcome: 'failed', category: 'usage_limit' }],
    })
    const waitMs = Date.parse(task.resumeAt ?? '') - askedAtMs
    expect(Math.abs(waitMs - 7_200_000)).toBeLessThan(60_000)
  })

  test('wakes by itself at that time and goes on, which costs no attempt', async () => {
    const { task, events } = await machine.run({ agentConfig: subscriber(program, 'limit-recovers') }, isEnd)
    expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('Recovered after the limit.') } })
    expect(task.runs).toMatchObject([{ attempt: 1 }, { attempt: 1, outcome: 'succeeded' }])
    const parked = events.find((event) => event.type === 'task.parked')
    const woken = events.find((event) => event.type === 'task.requeued')
    expect([parked, woken]).toMatchObject([{ data: { kind: 'usage_limit' } }, { data: { why: 'wake' } }])
    expect(Date.parse(woken!.at)).toBeGreaterThanOrEqual(Date.parse(parked!.data.until))
  })

  test('does not do again what it did before the limit', async () => {
    const workspace = await machine.workspace()
    const agentConfig = subscriber(program, 'tool-then-limit')
    const { task, events } = await machine.run({ agentConfig, workspace }, isEnd)
    expect(task.state).toBe('completed')
    expect(readFileSync(join(workspace, 'once.txt'), 'utf8')).toBe('once\n')
    const started = events.flatMap((event) => (event.type === 'run.started' ? [event.data] : []))
    expect(started).toMatchObject([{ resumed: false }, { resumed: true }])
    // It heard what was asked, and that it had begun.
    expect(task.result?.text).toMatch(/^Went on: first message \| .+/)
  })

  test('ends the command with 75, which says when and by what it goes on', async () => {
    const workspace = await machine.workspace()
    const args = ['run', '--agent', `limited-${program.agent}`, '--workspace', workspace, 'hello']
    const ended = await pawl(machine.home, args, { env: subscriber(program, 'limit-with-reset').env.set })
    expect(ended.stderr).toMatch(
      /^Parked until .+ \(usage_limit\)\. Nothing runs it meanwhile: "pawl serve" or "pawl task wait \w+"/m,
    )
    expect(ended.code).toBe(75)
    // What is asked for while the account is at its limit does not even start.
    const next = await pawl(machine.home, [...args, '--json'], { env: subscriber(program, 'limit-with-reset').env.set })
    expect(next.code).toBe(75)
    expect(JSON.parse(next.stdout)).toMatchObject({ task: { state: 'parked', reason: { kind: 'usage_limit' } }, result: null })
    const limits = await machine.daemon.runtime.listLimits()
    expect(limits.find(({ agents }) => agents.includes(`limited-${program.agent}`))).toMatchObject({
      kind: 'usage_limit',
      waiting: 2,
    })
  }, 60_000)
})
