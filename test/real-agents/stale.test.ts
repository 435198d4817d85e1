import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Machine, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

describe.each(programs)('the real $agent', (program) => {
  test('goes on within one task with a conversation whose file it refused', async () => {
    const agentConfig = machine.agent(program, 'echo-history', { retry: { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 } })
    const { task: first } = await machine.run({ agentConfig })
    // A program that waits has the conversation in its memory, so it goes first.
    await machine.restart()
    const folder = join(machine.home, 'sessions', first.session, program.files)
    const [name] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.jsonl'))
    const file = join(folder, name ?? '')
    // With an archive the damage would be found and repaired before the program sees it.
    await machine.forgetArchive(first.session)
    writeFileSync(file, 'x'.repeat(1_000))

    const { session, workspace } = first
    const { task, events } = await machine.run({ agentConfig, session, workspace, prompt: 'second' })
    expect(task.runs.map((run) => [run.outcome, run.category])).toEqual([
      ['failed', 'session_missing'],
      ['succeeded', null],
    ])
    expect(events.find((event) => event.type === 'session.rebuilt')?.data).toMatchObject({ why: 'refused', form: 'native' })
    expect(task.result?.text).toMatch(/^2 prompts: first message \| .*second$/s)
  })
})
