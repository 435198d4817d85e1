import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsUntil } from '../engine/home.ts'
import { type Machine, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

describe.each(programs)('the real $agent', (program) => {
  test('claims to be done, is told what did not pass, mends it in the same conversation, and is verified', async () => {
    const workspace = await machine.workspace()
    const checks = {
      commands: [{ name: 'the answer', run: 'grep -q right answer.txt || { echo "answer.txt is not right"; exit 1; }' }],
      attempts: 1,
    }
    const { task: made } = await machine.daemon.runtime.createTask(
      { prompt: 'write the answer', agentConfig: machine.agent(program, 'mends'), workspace, checks, skipPlanning: true },
      { by: 'test' },
    )
    const events = await eventsUntil(machine.daemon, made.id, (event) => /^task\.(completed|failed)$/.test(event.type), 90_000)
    const task = await machine.daemon.runtime.getTask(made.id)
    expect(task).toMatchObject({ state: 'completed', proof: 'verified', result: { outcome: 'succeeded', verified: true } })
    expect(task.runs.map((run) => [run.outcome, run.category])).toEqual([
      ['failed', 'checks_failed'],
      ['succeeded', null],
    ])
    expect(events.flatMap((event) => (event.type === 'run.started' ? [event.data.resumed] : []))).toEqual([false, true])
    expect(task.result?.summary).toContain('answer.txt is not right')
    expect(readFileSync(join(workspace, 'answer.txt'), 'utf8')).toBe('right\n')
    expect(await machine.daemon.runtime.verifyTask(task.id)).toMatchObject({
      verified: true,
      items: [{ exitCode: 1 }, { exitCode: 0 }],
      tree: { isSame: true },
    })
  })
})
