import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Daemon
const made: string[] = []
beforeAll(async () => {
  home = await makeHome()
  await writeFile(join(home.path, 'config.yaml'), 'timeouts: { warm: 0 }\n')
  folder = await mkdtemp(join(tmpdir(), 'pawl-clean-'))
  await chmod(folder, 0o755)
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  const script = [
    '#!/bin/sh',
    '[ "$1" = --version ] || { ls -A "$HOME" . > seen; while [ -e hold ]; do sleep 0.02; done; }',
    `exec "${process.execPath}" "${folder}/fake-claude.js" "$@"`,
  ]
  await writeFile(join(folder, 'claude'), `${script.join('\n')}\n`, { mode: 0o755 })
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  for (const path of [folder, ...made]) await rm(path, { recursive: true, force: true })
})

/** Its key lies in a script in the session home while the program lives. */
const agent = (changes: Partial<ResolvedAgent>) =>
  ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    auth: { env: [], via: 'script' },
    graceMs: 500,
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    ...changes,
  })

interface Way {
  readonly end: string
  readonly steps: object[]
  readonly changes?: Partial<ResolvedAgent>
  readonly task?: Partial<NewTask>
  /** What somebody does when the agent is at work. */
  readonly act?: (task: string) => Promise<unknown>
  readonly state: TaskView['state']
  readonly outcome: string
}
const call = {
  line: { type: 'assistant', message: { content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a' } }] } },
}
const ways: Way[] = [
  {
    end: 'ends well',
    steps: [{ say: 'done' }],
    // So that the program does not stay for the next turn.
    task: { checks: { commands: [{ run: 'true' }], attempts: 0 } },
    state: 'completed',
    outcome: 'succeeded',
  },
  { end: 'fails', steps: [{ exit: 3 }], state: 'failed', outcome: 'failed' },
  { end: 'takes too long', steps: [{ hang: true }], changes: { timeoutMs: 1_500 }, state: 'timed_out', outcome: 'timed_out' },
  { end: 'goes round in circles', steps: [...Array(6).fill(call), { hang: true }], state: 'failed', outcome: 'tripped' },
  {
    end: 'is cancelled',
    steps: [{ say: 'begun' }, { hang: true }],
    act: async (task) => {
      await eventsUntil(daemon, task, (event) => event.type === 'agent.message')
      await daemon.runtime.cancelTask(task, { now: false, by: 'test' })
    },
    state: 'cancelled',
    outcome: 'cancelled',
  },
]

const workspaceOf = async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'pawl-clean-ws-'))
  made.push(workspace)
  await chmod(workspace, 0o777)
  return workspace
}
const begin = async ({ steps, changes }: Pick<Way, 'steps' | 'changes'>, task: Partial<NewTask>) =>
  (await daemon.runtime.createTask({ prompt: JSON.stringify(steps), agentConfig: agent(changes ?? {}), ...task }, { by: 'test' }))
    .task
const filesIn = (path: string) => (existsSync(path) ? readdirSync(path) : [])
const sessionHome = (task: TaskView) => join(home.path, 'sessions', task.session)
const entryOf = (task: TaskView) => join(home.path, 'leftovers', `${task.session}.json`)
const notes = async (task: string) =>
  (await daemon.runtime.readEvents(task, { after: 0, limit: 1000 })).flatMap((event) =>
    event.type === 'run.noted' ? [event.data.code] : [],
  )

describe.each(ways)('a run that $end', (way) => {
  it('leaves neither its key nor what was put into the workspace for it', async () => {
    const workspace = await workspaceOf()
    const task = await begin(way, { ...way.task, workspace })
    await way.act?.(task.id)
    await eventsUntil(daemon, task.id, isResting)
    const seen = readFileSync(join(workspace, 'seen'), 'utf8')
    expect(seen).toContain('.pawl-key')
    expect(seen).toContain('.vscode')
    expect(await daemon.runtime.getTask(task.id)).toMatchObject({ state: way.state, runs: [{ outcome: way.outcome }] })
    await until(() => filesIn(join(home.path, 'leftovers')).length === 0)
    expect(filesIn(sessionHome(task))).not.toContain('.pawl-key')
    expect(filesIn(join(home.path, 'guards'))).toEqual([])
    expect(filesIn(workspace)).toEqual(['seen'])
  })

  it('ends the same way if that fails, and says what was not cleaned up', async () => {
    const workspace = await workspaceOf()
    await writeFile(join(workspace, 'hold'), '')
    // A file that the agent may not write would have it work on a copy.
    await chmod(join(workspace, 'hold'), 0o666)
    const task = await begin(way, { ...way.task, workspace })
    await until(() => existsSync(join(workspace, 'seen')) && existsSync(entryOf(task)))
    // A folder in the place of the list of what is to be removed: it can neither be read nor unlinked.
    renameSync(entryOf(task), `${entryOf(task)}.aside`)
    mkdirSync(join(entryOf(task), 'inside'), { recursive: true })
    rmSync(join(workspace, 'hold'))
    await way.act?.(task.id)
    await eventsUntil(daemon, task.id, isResting)
    expect(await daemon.runtime.getTask(task.id)).toMatchObject({ state: way.state, runs: [{ outcome: way.outcome }] })
    expect(await notes(task.id)).toContain('not_ended_cleanly')
    // What could be cleaned up was.
    expect(filesIn(workspace)).toEqual(['seen'])
    rmSync(join(home.path, 'leftovers'), { recursive: true })
  })
})

it('a run that cannot be prepared leaves the workspace as it was, and says why it could not', async () => {
  const workspace = await workspaceOf()
  const first = await begin({ steps: [{ say: 'one' }] }, { workspace })
  await eventsUntil(daemon, first.id, isResting)
  rmSync(join(workspace, 'seen'))
  // No link is ever followed to where a session lives, so nothing can be put there.
  const elsewhere = await mkdtemp(join(tmpdir(), 'pawl-clean-elsewhere-'))
  made.push(elsewhere)
  renameSync(sessionHome(first), join(elsewhere, 'home'))
  symlinkSync(join(elsewhere, 'home'), sessionHome(first))
  const second = await begin({ steps: [{ say: 'two' }] }, { workspace, session: first.session })
  await eventsUntil(daemon, second.id, isResting)
  expect(await daemon.runtime.getTask(second.id)).toMatchObject({
    state: 'failed',
    reason: { kind: 'internal' },
    runs: [{ walls: null }],
  })
  expect(filesIn(workspace)).toEqual([])
  expect(filesIn(join(home.path, 'guards'))).toEqual([])
})
