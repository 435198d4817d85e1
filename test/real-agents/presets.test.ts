import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { presets } from '../../src/agents/index.ts'
import { type Machine, type Program, startMachine } from './peer.ts'

/** Those presets whose program can be had here: spoken to by nothing but their data. */
const tried: readonly Program<string>[] = presets
  .filter(({ tried: version }) => version !== 'untried')
  .map(({ name, adapter, options, env = {} }) => ({
    agent: name,
    adapter,
    process: 'node',
    model: 'scripted-model',
    api: '/v1',
    keyName: 'OPENAI_API_KEY',
    files: '.qwen/projects',
    env: () => env,
    options: ({ qwen }) => ({ ...options, command: qwen }),
  }))

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

describe.each(tried)('the preset $agent', (program) => {
  test('works inside the walls, goes on when its files are gone, and is told what was said when the archive is gone too', async () => {
    const workspace = await machine.workspace()
    const agentConfig = machine.agent(program, 'echo-history', { systemPrompt: 'Be kind.' })
    const first = await machine.run({ agentConfig, workspace, prompt: 'first' })
    expect(first.task).toMatchObject({ state: 'completed', result: { outcome: 'succeeded' } })
    expect(first.task.result?.text).toBe('1 prompts: first')
    expect(first.task.result?.usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: 15 })
    const next = (prompt: string) => machine.run({ agentConfig, workspace, session: first.task.session, prompt })
    const files = join(machine.home, 'sessions', first.task.session!, program.files)
    expect(existsSync(files)).toBe(true)
    rmSync(files, { recursive: true })
    const second = await next('second')
    expect(second.events.map(({ type }) => type)).toContain('session.restored')
    expect(second.task.result?.text.replaceAll(/\s+/g, ' ')).toBe('2 prompts: first | second')

    rmSync(files, { recursive: true })
    await machine.forgetArchive(first.task.session!)
    const third = await next('third')
    expect(third.events.map(({ type }) => type)).toContain('session.rebuilt')
    expect(third.task.result?.text).toMatch(/^1 prompts: [\s\S]*first[\s\S]*third/)
  }, 120_000)

  test('does real work with its tools, and a refused key is a failure that says so', async () => {
    const workspace = await machine.workspace()
    const worked = await machine.run({ agentConfig: machine.agent(program, 'tool'), workspace })
    expect(worked.task.result?.text).toContain('scripted-tool')
    expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(true)
    const refused = await machine.run({ agentConfig: machine.agent(program, 'auth') })
    expect(refused.task).toMatchObject({ state: 'failed', result: { text: expect.stringContaining('401') } })
    expect(refused.task.runs.map(({ category }) => category)).toEqual(['auth_failed'])
  }, 120_000)
})
