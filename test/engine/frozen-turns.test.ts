import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { git, repository } from '../../src/engine/workspace/testing.ts'
import { eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))
/** Code for the owner's editor, git and shell, at the top of the workspace and deeper. */
const plants = ['.vscode/tasks.json', '.git/hooks/post-checkout', '.envrc', '.npmrc', 'sub/.vscode/tasks.json', 'sub/.envrc']

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let daemon: Daemon
let spaces: string
let made = 0
beforeAll(async () => {
  home = await makeHome()
  folder = await mkdtemp(join(tmpdir(), 'pawl-frozen-'))
  spaces = await mkdtemp(join(tmpdir(), 'pawl-frozen-spaces-'))
  for (const place of [folder, spaces]) await chmod(place, 0o755)
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  const script = `#!/bin/sh\nexec "${process.execPath}" "${folder}/fake-claude.js" "$@"\n`
  await writeFile(join(folder, 'claude'), script, { mode: 0o755 })
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  for (const place of [folder, spaces]) await rm(place, { recursive: true, force: true })
})

const agentConfig = () =>
  ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    gateway: false,
    graceMs: 1_000,
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
  })
async function finish(steps: object[], task: Partial<NewTask> = {}) {
  const asked = { prompt: JSON.stringify(steps), agentConfig: agentConfig(), ...task }
  const { task: made } = await daemon.runtime.createTask(asked, { by: 'test' })
  const events = await eventsUntil(daemon, made.id, isResting)
  return { events, task: await daemon.runtime.getTask(made.id) }
}
/** A repository that root's agents may write as well, or they would be given a copy of it. */
async function repositoryOfAll(): Promise<string> {
  const workspace = join(spaces, `space-${++made}`)
  await repository(workspace, { 'a.txt': 'a', 'sub/b.txt': 'b' })
  openToAgents(workspace)
  return workspace
}
const openToAgents = (workspace: string) => execFileSync('chmod', ['-R', 'a+rwX', workspace])
const waiting = async (session: string) => (await daemon.runtime.health()).warm.find((one) => one.session === session)
const planted = (workspace: string) => plants.filter((path) => existsSync(join(workspace, path)))
const quarantinedIn = (events: { type: string; data: unknown }[]) =>
  events.filter(({ type }) => type === 'workspace.quarantined').flatMap(({ data }) => (data as { paths: string[] }).paths)

it('a program that waits for its next turn plants nothing meanwhile, and nothing it plants then is taken for the user’s own', async () => {
  const workspace = await repositoryOfAll()
  const files = Object.fromEntries(plants.map((path) => [path, 'evil']))
  const first = await finish([{ plant: { afterMs: 1_000, files } }, { say: 'done' }], { workspace })
  expect(first.task).toMatchObject({ state: 'completed', result: { outcome: 'succeeded', text: 'done' } })
  const one = await waiting(first.task.session)
  expect(one?.pid).toBeGreaterThan(0)
  await pause(1_500)
  expect(planted(workspace)).toEqual([])
  expect(git(workspace, 'status', '--porcelain')).toBe('')
  expect(readdirSync(workspace).toSorted()).toEqual(['.git', 'a.txt', 'sub'])

  openToAgents(workspace)
  // Its timer is due by now. The reserved names are covered as in the first turn; what is planted elsewhere is found.
  // Its `.git` is its own: a hook there is nobody else's.
  const tries = ['.vscode/x', '.husky/x', '.envrc/x', '.git/hooks/x']
  const second = await finish([{ plant: { afterMs: 0, files } }, { tries }, { sleep: 200 }], {
    workspace,
    session: first.task.session,
  })
  expect(second.task.result?.text).toBe('.vscode/x EROFS, .husky/x EROFS, .envrc/x EROFS, .git/hooks/x written')
  expect(existsSync(join(workspace, '.git/hooks/x'))).toBe(false)
  expect(quarantinedIn(second.events).toSorted()).toEqual(['.npmrc', 'sub/.envrc', 'sub/.vscode'])
  expect(planted(workspace)).toEqual([])
  expect((await waiting(first.task.session))?.pid).toBe(one?.pid)
  await pause(300)
  expect(planted(workspace)).toEqual([])
  expect(git(workspace, 'status', '--porcelain')).toBe('')
})

it('what the user makes meanwhile is the user’s, and is covered by starting the program anew', async () => {
  const workspace = await repositoryOfAll()
  const first = await finish([{ say: 'done' }], { workspace })
  const one = await waiting(first.task.session)
  mkdirSync(join(workspace, '.vscode'))
  writeFileSync(join(workspace, '.vscode/tasks.json'), '{}')
  openToAgents(workspace)
  const second = await finish([{ tries: ['.vscode/x', '.husky/x'] }], { workspace, session: first.task.session })
  expect(second.task.result?.text).toBe('.vscode/x EROFS, .husky/x EROFS')
  expect(quarantinedIn(second.events)).toEqual([])
  expect((await waiting(first.task.session))?.pid).not.toBe(one?.pid)
  expect(readFileSync(join(workspace, '.vscode/tasks.json'), 'utf8')).toBe('{}')
})

it('a program whose reserved places cannot be covered again serves nobody', async () => {
  const workspace = await repositoryOfAll()
  const first = await finish([{ say: 'done' }], { workspace })
  const one = await waiting(first.task.session)
  // What was laid over it inside goes with it.
  await rm(join(home.path, 'parked'), { recursive: true })
  const second = await finish([{ tries: ['.vscode/x'] }], { workspace, session: first.task.session })
  expect(second.task.result?.text).toBe('.vscode/x EROFS')
  expect((await waiting(first.task.session))?.pid).not.toBe(one?.pid)
})

it('a frozen program is ended at once, and leaves nothing of ours', async () => {
  const { task } = await finish([{ plant: { afterMs: 0, files: {} } }, { say: 'done' }], { workspace: await repositoryOfAll() })
  const one = await waiting(task.session)
  const began = performance.now()
  await daemon.runtime.createTask(
    { prompt: 'anew', agentConfig: agentConfig(), session: task.session, resetSession: true },
    { by: 'test' },
  )
  await until(() => !existsSync(`/proc/${one?.pid}`))
  expect(performance.now() - began).toBeLessThan(2_000)
  await until(async () => (await waiting(task.session)) !== undefined)
  expect(readdirSync(join(home.path, 'parked')).filter((name) => name.startsWith(task.session))).toHaveLength(1)
})
