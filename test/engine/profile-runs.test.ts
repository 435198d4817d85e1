import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { ProfileMount } from '../../src/domain/profile/profile.ts'
import { type ProfileSettings, resolveProfile } from '../../src/domain/profile/resolve.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

describe('a run under a profile of its own', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let outside: Awaited<ReturnType<typeof makeHome>>
  let daemon: Daemon
  const logged: string[] = []

  beforeAll(async () => {
    home = await makeHome()
    outside = await makeHome()
    await chmod(outside.path, 0o755)
    await writeFile(
      join(home.path, 'config.yaml'),
      'env: [REGION=value-of-all, MODE=value-of-all]\nusers: { anna: { env: { REGION: value-of-anna } } }\nagents: { plain: { adapter: custom, command: [sh, -c, "echo $REGION $MODE > vars; echo done"] } }\n',
    )
    const log = createLog({ level: 'debug', format: 'json', now: Date.now, write: (line) => void logged.push(line) })
    daemon = await startEngine(home.path, { log })
  })
  afterAll(async () => {
    await daemon.stop()
    await home.remove()
    await outside.remove()
  })

  const profile = (settings: ProfileSettings) => resolveProfile('mine', { mine: settings })
  const rested = async (id: string) => ({
    events: await eventsUntil(daemon, id, isResting),
    task: await daemon.runtime.getTask(id),
  })
  const shell = async (script: string, settings: ProfileSettings) => {
    const options = { command: ['/bin/sh', '-c', script, 'sh'], systemPromptFlag: '-t' }
    const agentConfig = commandAgent([], { profile: 'mine', rights: profile(settings), options })
    return rested((await daemon.runtime.createTask({ prompt: 'x', agentConfig }, { by: 'test' })).task.id)
  }
  /** An agent that wants to use tools, one after the other, and says how each wish was answered. */
  const uses = async (lines: readonly string[], settings: ProfileSettings) => {
    const agentConfig = ResolvedAgent.parse({
      ...{ name: 'asking', adapter: 'claude-code', profile: 'mine', rights: profile(settings) },
      ...{ options: { command: fakeClaude }, env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } } },
    })
    const prompt = JSON.stringify(lines.map((command, at) => ({ use: { id: `u${at}`, name: 'Bash', input: { command } } })))
    return rested((await daemon.runtime.createTask({ prompt, agentConfig }, { by: 'test' })).task.id)
  }
  const folder = async (name: string) => {
    const path = join(outside.path, name)
    await mkdir(path)
    await chmod(path, 0o777)
    return path
  }
  const mount = (source: string, more: Partial<ProfileMount> = {}): ProfileMount => ({
    ...{ name: source.split('/').at(-1)!, description: '', source, path: source },
    ...{ mode: 'ro', persistent: false, required: true },
    ...more,
  })
  it('ends when it fills the disk', async () => {
    const { task } = await shell('head -c 200000000 /dev/zero > large; sync large; exec sleep 60', { limits: { diskMb: 50 } })
    expect(task.runs).toMatchObject([{ outcome: 'failed', category: 'disk_limit' }])
  })
  it('says which profile that is when it starts and in its record, and what was refused by it', async () => {
    const { events, task } = await uses(['ls', 'rm a'], { rules: { deny: ['Bash(rm:*)'] } })
    expect(events.find(({ type }) => type === 'run.started')).toMatchObject({ data: { profile: 'mine', enforced: true } })
    expect(task.runs).toMatchObject([{ profile: 'mine', outcome: 'empty' }])
    expect(events.filter(({ type }) => type === 'permission.decided').map(({ data }) => data)).toMatchObject([
      { verdict: 'denied', call: 'Bash(rm a)', rule: 'Bash(rm:*)' },
    ])
  })

  it('ends as denied, with the refusal as its text, when one too many of its calls is refused, and the next run counts anew', async () => {
    const settings = { rules: { deny: ['Bash(rm:*)'] } }
    const { events, task } = await uses(['rm a', 'rm b', 'rm c', 'ls'], settings)
    expect(task).toMatchObject({
      state: 'failed',
      reason: { kind: 'permission_denied', detail: expect.stringContaining('refused 3 calls of Bash under the profile "mine"') },
      runs: [{ outcome: 'denied', category: 'permission_denied' }],
    })
    expect(events.filter(({ type }) => type === 'permission.decided')).toHaveLength(3)
    expect((await uses(['rm a', 'rm b'], settings)).task.state).toBe('completed')
  })

  it('has its own rules and no other, whatever runs beside it', async () => {
    const lines = ['rm a', 'ls b', 'rm c', 'ls d']
    const refused = await Promise.all(
      ['Bash(rm:*)', 'Bash(ls:*)'].map(async (rule) => {
        const { events, task } = await uses(lines, { rules: { deny: [rule] } })
        const calls = events.flatMap((event) => (event.type === 'permission.decided' ? [event.data.call] : []))
        return [task.state, ...calls]
      }),
    )
    expect(refused).toEqual([
      ['completed', 'Bash(rm a)', 'Bash(rm c)'],
      ['completed', 'Bash(ls b)', 'Bash(ls d)'],
    ])
  })

  it('has no secret of a tool call in its events or in the log, neither where it is called nor where it is refused', async () => {
    const secret = 'key-0123456789'
    const { events } = await uses([`ls ${secret}`, `rm ${secret}`], { rules: { deny: ['Bash(rm:*)'] } })
    const told = JSON.stringify(events.filter(({ type }) => type === 'agent.tool_called' || type === 'permission.decided'))
    expect(told).toContain('rm [redacted:ANTHROPIC_API_KEY]')
    expect(told).toContain('ls [redacted:ANTHROPIC_API_KEY]')
    expect(JSON.stringify(events)).not.toContain(secret)
    expect(logged.filter((line) => line.includes(secret))).toEqual([])
  })

  it('is nobody’s whose name could be a path', async () => {
    for (const name of ['../anna', 'a/b', '..', '.', 'a\\b', '', 'a\0b', `${'a'.repeat(300)}`])
      await expect(daemon.entrance.createUser({ name }, { by: 'test' }), JSON.stringify(name)).rejects.toMatchObject({
        code: 'invalid',
      })
  })

  it('has the variables of every run, those of its user over them, and no value of either is logged', async () => {
    const said = async (user: string) => {
      const { task } = await daemon.runtime.createTask({ prompt: 'x', agent: 'plain' }, { by: user, user, standing: 'operator' })
      await rested(task.id)
      return (await readFile(join(task.workspace, 'vars'), 'utf8')).trim()
    }
    await daemon.entrance.createUser({ name: 'anna' }, { by: 'test' })
    expect([await said('local'), await said('anna')]).toEqual(['value-of-all value-of-all', 'value-of-anna value-of-all'])
    expect(logged.filter((line) => line.includes('a run starts')).length).toBeGreaterThan(0)
    expect(logged.filter((line) => line.includes('value-of-'))).toEqual([])
  })

  it('sees the mounts of the profile at their own paths, read-only or writable, a persistent one from task to task, and nothing beside them', async () => {
    const [read, write, beside] = [await folder('read'), await folder('write'), await folder('beside')]
    await writeFile(join(read, 'a.txt'), 'known')
    const kept = join(outside.path, 'kept')
    const mounts = [mount(read), mount(write, { mode: 'rw' }), mount(kept, { mode: 'rw', persistent: true })]
    const script = `cat ${read}/a.txt; touch ${read}/x ${beside}/x 2>/dev/null; ls ${outside.path}; echo made > ${write}/b.txt; echo x >> ${kept}/c.txt; cat ${kept}/c.txt`
    const first = await shell(script, { mounts })
    expect(first.task.result?.text).toBe('knownkept\nread\nwrite\nx')
    expect((await shell(script, { mounts })).task.result?.text).toBe('knownkept\nread\nwrite\nx\nx')
    expect([await readdir(read), await readdir(write), await readdir(beside)]).toEqual([['a.txt'], ['b.txt'], []])
    expect(await readFile(join(kept, 'c.txt'), 'utf8')).toBe('x\nx\n')
    expect((await lstat(kept)).isDirectory()).toBe(true)
  })

  it('tells the agent what is mounted, by name and description', async () => {
    const data = await folder('data')
    const described = mount(data, { name: 'tables', description: 'what to count', mode: 'rw' })
    const { task } = await shell('echo "$PAWL_MOUNTS"', { mounts: [described] })
    expect(task.result?.text).toBe(`- ${data} (may be written): tables, what to count`)
  })

  it('does not start where a required mount is missing, and goes on without an optional one, each by its name', async () => {
    const gone = join(outside.path, 'gone')
    const stopped = await shell('echo ran', { mounts: [mount(gone)] })
    expect(stopped.task).toMatchObject({ state: 'failed', reason: { kind: 'workspace_error' } })
    expect(stopped.task.reason?.detail).toContain(`The mount "gone" of profile "mine", ${gone}, does not exist`)
    expect(stopped.events.map(({ type }) => type)).not.toContain('run.started')
    const went = await shell('echo ran', { mounts: [mount(gone, { required: false })] })
    expect(went.task.result?.text).toBe('ran')
    expect(went.events).toContainEqual(
      expect.objectContaining({
        data: expect.objectContaining({ code: 'mount_missing', detail: expect.stringContaining(gone) }),
      }),
    )
  })
})
