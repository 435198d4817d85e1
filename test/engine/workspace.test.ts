import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'
import { giveDatabase } from './ready-database.ts'

describe.runIf(process.getuid?.() === 0)('a workspace that the agent may not write', () => {
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

  const folder = async (name: string, files: Record<string, string>, mode = 0o755) => {
    const workspace = join(home.path, name)
    await mkdir(workspace)
    await chmod(workspace, mode)
    for (const [file, text] of Object.entries(files)) await writeFile(join(workspace, file), text)
    return workspace
  }
  const create = async (workspace: string, script: string, changes: Partial<ResolvedAgent> = {}) =>
    (
      await daemon.runtime.createTask(
        { prompt: 'do it', workspace, agentConfig: commandAgent(['/bin/sh', '-c', script], changes) },
        { by: 'test' },
      )
    ).task
  const finished = async (id: string) => {
    const events = await eventsUntil(daemon, id, isResting)
    return { events, task: await daemon.runtime.getTask(id) }
  }
  const copies = () => join(home.path, 'workspaces')

  it('is the folder that was named: a link that somebody put there since is not followed', async () => {
    const [workspace, other] = [await folder('was-here', {}), await folder('not-for-agents', { key: 'SECRET' })]
    const before = { prompt: 'x', review: true, agentConfig: commandAgent(['echo', 'done']) }
    const { task: first } = await daemon.runtime.createTask(before, { by: 'test' })
    const waiting = { prompt: 'x', workspace, dependsOn: [first.id], agentConfig: commandAgent(['cat', 'key']) }
    const { task } = await daemon.runtime.createTask(waiting, { by: 'test' })
    await rmdir(workspace)
    await symlink(other, workspace)
    await until(async () => (await daemon.runtime.getTask(first.id)).state === 'review')
    await daemon.runtime.acceptTask(first.id, { by: 'test' })
    const { task: ended } = await finished(task.id)
    expect(ended).toMatchObject({ state: 'failed', reason: { kind: 'workspace_error' } })
    expect(JSON.stringify(ended)).toContain('is a link by now')
    expect(JSON.stringify(ended)).not.toContain('SECRET')
  })

  it('is copied without what the program never looks into, unless checks may need it', async () => {
    const workspace = await folder('with-packages', { 'a.txt': 'a', 'package.json': '{}' })
    await mkdir(join(workspace, 'node_modules/large'), { recursive: true })
    await writeFile(join(workspace, 'node_modules/large/index.js'), '1')
    const agentConfig = { ...commandAgent([]), name: 'demo', adapter: 'demo', options: { ask: false } }
    const copied = async (more: Pick<NewTask, 'checks'>) => {
      const { task } = await daemon.runtime.createTask({ prompt: 'look', workspace, agentConfig, ...more }, { by: 'test' })
      const { events, task: ended } = await finished(task.id)
      expect(ended.state).toBe('completed')
      return JSON.stringify(events)
    }
    const alone = await copied({})
    expect(alone).toContain('because Pawl is root')
    expect(alone).toContain('Copied 2 files')
    expect(await readdir(join(workspace, 'node_modules/large'))).toEqual(['index.js'])
    // The report of the first is the third.
    const commands = [{ run: 'test -e node_modules/large/index.js' }]
    expect(await copied({ checks: { commands, attempts: 0 } })).toContain('Copied 4 files')
  })

  it('gets every file but the one that was changed on both sides, and that is no plain success', async () => {
    const workspace = await folder('both', { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
    const wait = 'until [ -e go ]; do sleep 0.02; done'
    const { id } = await create(workspace, `for f in a b c; do echo agent > $f.txt; done; touch started; ${wait}; echo well`)
    const copy = join(copies(), `${id}.1.copy/copy`)
    await until(() => existsSync(join(copy, 'started')))
    await writeFile(join(workspace, 'b.txt'), 'owner')
    await writeFile(join(copy, 'go'), '')
    const { events, task } = await finished(id)
    const kept = join(copies(), `${id}.1.kept/copy`)
    const told = `1 file was changed on both sides and is kept in ${kept}: b.txt`
    expect(task).toMatchObject({
      state: 'completed',
      reason: { kind: 'partial', detail: told },
      result: { outcome: 'partial', text: 'well' },
    })
    expect(events.find((event) => event.type === 'run.noted' && event.data.code === 'workspace_conflict')?.data).toMatchObject({
      detail: told,
    })
    expect(events.find((event) => event.type === 'workspace.changed')?.data).toEqual({
      summary: '3 changed, 2 new (+3 -3)',
      files: 5,
    })
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('agent\n')
    expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('owner')
    expect(await readFile(join(workspace, 'c.txt'), 'utf8')).toBe('agent\n')
    expect(await readFile(join(kept, 'b.txt'), 'utf8')).toBe('agent\n')
  })

  it('tells what changed without a repository, and leaves no copy', async () => {
    const workspace = await folder('plain', { one: '1', two: '2', three: '3' })
    const { id } = await create(workspace, 'echo x > one; echo y > four; rm two')
    const { events } = await finished(id)
    expect(events.find((event) => event.type === 'workspace.changed')?.data.summary).toBe('1 changed, 1 new, 1 removed (+2 -2)')
    expect((await readdir(copies())).filter((name) => name.startsWith(id))).toEqual([])
  })

  it('is copied although everybody may write the folder, when a file in it is closed', async () => {
    const workspace = await folder('open', { 'root.txt': 'old' }, 0o777)
    await finished((await create(workspace, 'echo new > root.txt')).id)
    expect(await readFile(join(workspace, 'root.txt'), 'utf8')).toBe('new\n')
    expect((await lstat(join(workspace, 'root.txt'))).uid).toBe(0)
  })

  it('is one workspace by whatever link it is named', async () => {
    const workspace = await folder('real', {})
    await symlink(workspace, join(home.path, 'alias'))
    const task = await create(join(home.path, 'alias'), 'echo x > here')
    expect(task.workspace).toBe(workspace)
    await finished(task.id)
    expect(await readdir(workspace)).toEqual(['here'])
  })

  describe('while a copy takes long', () => {
    let large: string
    beforeAll(async () => {
      large = await folder('large', {})
      // So many that copying them takes its time on any machine.
      for (let n = 0; n < 20_000; n++) closeSync(openSync(join(large, String(n)), 'w'))
    })

    it('can be cancelled', async () => {
      const { id } = await create(large, 'echo never')
      await until(() => existsSync(join(copies(), `${id}.1.copy`)))
      await daemon.runtime.cancelTask(id, { now: false, by: 'test' })
      expect((await finished(id)).task.state).toBe('cancelled')
      expect(existsSync(join(copies(), `${id}.1.copy`))).toBe(false)
    })

    it('runs out of time', async () => {
      const { id } = await create(large, 'echo never', { timeoutMs: 50 })
      expect((await finished(id)).events.at(-1)).toMatchObject({ type: 'task.timed_out', data: { category: 'total_timeout' } })
    })
  })
})

describe.runIf(process.getuid?.() === 0)("a workspace around Pawl's own home, as a user's home folder is", () => {
  it.each([undefined, 'copy', 'clone'] as const)(
    'is worked in, and the agent sees nothing of Pawl in it: mode %s',
    async (workspaceMode) => {
      const around = await mkdtemp(join(tmpdir(), 'pawl-around-'))
      const inner = join(around, 'deep/.pawl')
      await giveDatabase(inner, { inside: true })
      await chmod(around, 0o755)
      await writeFile(join(around, 'a.txt'), 'a')
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: around })
      for (const args of [
        ['init', '-q'],
        ['add', 'a.txt'],
        ['commit', '-qm', 'first'],
      ])
        git(...args)
      const daemon = await startEngine(inner)
      try {
        const agentConfig = commandAgent(['/bin/sh', '-c', 'cat a.txt; ls -A deep/.pawl; touch $HOME/mine b.txt'])
        const asked = { prompt: 'do it', workspace: around, agentConfig, ...(workspaceMode ? { workspaceMode } : {}) }
        const { task } = await daemon.runtime.createTask(asked, { by: 'test' })
        await eventsUntil(daemon, task.id, isResting)
        expect(await daemon.runtime.getTask(task.id)).toMatchObject({ state: 'completed', result: { text: 'asessions' } })
        expect(existsSync(join(around, 'b.txt'))).toBe(workspaceMode !== 'clone')
      } finally {
        await daemon.stop()
        await rm(around, { recursive: true })
      }
    },
  )
})
