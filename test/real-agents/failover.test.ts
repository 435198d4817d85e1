import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

/** Claude Code speaks of a plan, and of its end, only to whom it takes for a subscriber. */
const subscription: Record<Program['agent'], string> = { claude: 'CLAUDE_CODE_OAUTH_TOKEN', codex: 'OPENAI_API_KEY' }
const token = 'token-of-a-subscriber-0123456789'
const keyOf = (program: Program) => `next-${program.agent}`

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
  const agents = programs.map((program) => {
    const { model, options } = machine.agent(program, 'echo-history')
    const baseUrl = `${machine.models.base('echo-history', keyOf(program))}${program.api}`
    return [
      keyOf(program),
      { adapter: program.adapter, model, baseUrl, gateway: false, env: [subscription[program.agent]], ...options },
    ]
  })
  await writeFile(join(machine.home, 'config.yaml'), JSON.stringify({ agents: Object.fromEntries(agents) }))
  for (const name of Object.values(subscription)) process.env[name] = token
  await machine.restart()
})
afterAll(async () => {
  for (const name of Object.values(subscription)) delete process.env[name]
  await machine.stop()
})

const [claude, codex] = programs as [Program, Program]

describe.each([
  { first: claude, next: codex },
  { first: codex, next: claude },
])('when the plan of the real $first.agent is used up in the middle of its work, $next.agent', ({ first, next }) => {
  test('goes on and knows the conversation, in its own form and in the same folder', async () => {
    const workspace = await machine.workspace()
    const env = { pass: [], set: { [subscription[first.agent]]: token } }
    const agentConfig = machine.agent(first, 'tool-then-limit', { name: `first-${first.agent}`, env, gateway: false })
    const isEnd = (event: { type: string }) => event.type === 'task.completed' || event.type === 'task.failed'
    const { task, events } = await machine.run(
      { agentConfig, workspace, failover: [keyOf(next)], prompt: 'count the plums', skipPlanning: true },
      isEnd,
    )
    expect(task).toMatchObject({ state: 'completed', agent: keyOf(next) })
    expect(task.runs).toMatchObject([
      { agent: `first-${first.agent}`, category: 'usage_limit', profile: 'guarded' },
      { agent: keyOf(next), outcome: 'succeeded', profile: 'guarded' },
    ])
    expect(events.find((event) => event.type === 'task.requeued')).toMatchObject({
      data: { why: 'failover', detail: `first-${first.agent} is at its limit; ${keyOf(next)} goes on.` },
    })
    expect(events.find((event) => event.type === 'session.rebuilt')).toMatchObject({ data: { form: 'native', why: 'unheard' } })
    // What was asked, and what the other had done by then.
    expect(task.result?.text).toMatch(/^2 prompts: count the plums \| .*cut short/s)
    const seen = machine.models.requestsOf(keyOf(next)).map((request) => JSON.stringify(request.body))
    expect(seen.some((body) => body.includes('once.txt') && body.includes('Running a command.'))).toBe(true)
    expect(readFileSync(join(workspace, 'once.txt'), 'utf8')).toBe('once\n')
    expect((await machine.daemon.runtime.getSession(task.session)).adapter).toBe(next.adapter)
    expect(await machine.daemon.runtime.listLimits()).toMatchObject([{ agents: [`first-${first.agent}`], kind: 'usage_limit' }])
    await machine.daemon.runtime.clearLimits(`first-${first.agent}`, { by: 'test' })
  })
})
