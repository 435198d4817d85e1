import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { openStore } from '../../src/store/open.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const finish = async (agentConfig: ResolvedAgent, task: Partial<NewTask> = {}) => {
  const { task: made } = await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, { by: 'test' })
  await eventsUntil(daemon, made.id, isResting)
  return daemon.runtime.getTask(made.id)
}

describe('an agent that remembers nothing', () => {
  it('gets the system prompt with every run, as its file then is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-prompt-'))
    const systemPromptFile = join(folder, 'system-prompt.md')
    const options = { command: ['/bin/sh', '-c', 'echo "$0"'], systemPromptFlag: '--system' }
    const agent = commandAgent([], { options, systemPromptFile })
    await writeFile(systemPromptFile, 'Be brief.')
    const first = await finish(agent)
    expect(first.result?.text).toBe('--system=Be brief.')
    await writeFile(systemPromptFile, 'Be kind.')
    expect((await finish(agent, { session: first.session })).result?.text).toBe('--system=Be kind.')
    await rm(folder, { recursive: true })
  })

  it('is asked once more for an answer that does not have its form', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const script = `[ -e asked ] && { echo '{"n":1}'; exit; }; touch asked; echo one`
    const { id } = await finish(commandAgent(['/bin/sh', '-c', script]), { outputSchema })
    const task = await daemon.runtime.getTask(id)
    expect(task.result?.text).toBe('{"n":1}')
    expect(task.runs.map((run) => [run.outcome, run.category])).toEqual([
      ['failed', 'invalid_output'],
      ['succeeded', null],
    ])
  })
})

it('a run that has ended is one record that nothing changes: its text, session, exit code and last words', async () => {
  const task = await finish(commandAgent(['/bin/sh', '-c', 'echo half; echo the disk is full >&2; exit 3']))
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  const read = async () => {
    const { rows } = await sql`select * from pawl.runs where id = ${task.runs[0]!.id}`.execute(store.database.db)
    return rows
  }
  const before = await read()
  expect(before).toMatchObject([
    { session_id: task.session, text: 'half', exit_code: 3, message: 'Exit code 3: the disk is full', outcome: 'failed' },
  ])
  await daemon.runtime.retryTask(task.id, { fresh: true, by: 'test' })
  await until(async () => (await daemon.runtime.getTask(task.id)).runs[1]?.state === 'ended')
  expect(await read()).toEqual(before)
  await store.close()
})
