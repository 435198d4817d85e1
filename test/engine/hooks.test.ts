import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { commandAgent, eventsUntil, until } from './home.ts'
import { by, finish, listed, makeNotificationHome, type NotificationHome } from './notification-home.ts'

describe('commands of the owner', () => {
  let home: NotificationHome
  beforeAll(async () => {
    home = await makeNotificationHome()
    return () => home.remove()
  })

  /** A folder that is there until the test ends. */
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'pawl-hook-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    return path
  }
  const script = (text: string) => {
    const file = join(folder(), 'hook')
    writeFileSync(file, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
    return file
  }
  const ran = async (daemon: Daemon, task: string): Promise<Extract<Event, { type: 'hook.ran' }>> => {
    const events = await eventsUntil(daemon, task, (event) => event.type === 'hook.ran')
    return events.find((event) => event.type === 'hook.ran')!
  }

  it('a command is given the message on its standard input and only ids and paths as variables, and its end is an event', async () => {
    const out = folder()
    const hook = script(`cat > ${out}/stdin; env | sort > ${out}/env; pwd > ${out}/cwd; echo told somebody`)
    const daemon = await home.start({ bell: { command: { run: [hook, '--flag'] } } })
    const task = await finish(daemon, "echo 'I am; rm -rf / $(touch pwned)'")
    expect((await ran(daemon, task)).data).toMatchObject({
      name: 'bell',
      event: 'task.completed',
      attempt: 1,
      exitCode: 0,
      output: 'told somebody',
    })
    expect(await listed(daemon)).toMatchObject([{ target: 'bell', kind: 'command', state: 'sent' }])
    const message = JSON.parse(readFileSync(join(out, 'stdin'), 'utf8'))
    expect(message).toMatchObject({
      type: 'task.completed',
      task: { id: task, result: { text: 'I am; rm -rf / $(touch pwned)' } },
    })
    const env = readFileSync(join(out, 'env'), 'utf8')
    expect(env).toContain(`PAWL_TASK_ID=${task}\n`)
    expect(env).toContain('PAWL_TASK_STATE=completed\n')
    expect(env).not.toContain('rm -rf')
    expect(readFileSync(join(out, 'cwd'), 'utf8').trim()).toBe(home.path)
    expect(existsSync(join(home.path, 'hooks', message.id))).toBe(false)
  })

  it('a command that fails is given up after its tries, with what it printed', async () => {
    const daemon = await home.start({ bad: { command: { run: [script('echo no such branch >&2; exit 7')] }, attempts: 1 } })
    const task = await finish(daemon, 'true')
    expect((await ran(daemon, task)).data).toMatchObject({
      exitCode: 7,
      output: 'no such branch',
      failure: 'The command failed: it ended with 7.',
    })
    expect(await listed(daemon)).toMatchObject([{ state: 'dead', lastError: 'The command failed: it ended with 7.' }])
  })

  it('a command that takes too long is ended with all that it has started', async () => {
    const out = folder()
    const hook = script(`sleep 100 & echo $! > ${out}/child; wait`)
    const daemon = await home.start({ slow: { command: { run: [hook], timeout: '300ms' }, attempts: 1 } })
    const task = await finish(daemon, 'true')
    expect((await ran(daemon, task)).data.failure).toMatch(/took longer than 0.3 s/)
    const child = readFileSync(join(out, 'child'), 'utf8').trim()
    await until(() => !existsSync(`/proc/${child}`))
  })

  it('a daemon that stops does not wait for a command, which costs no try and is run by the next one', async () => {
    const out = folder()
    const hook = script(`echo started >> ${out}/log; test -e ${out}/second || exec sleep 100`)
    const daemon = await home.start({ slow: { command: { run: [hook] } } })
    await finish(daemon, 'true')
    await until(() => existsSync(join(out, 'log')) && readFileSync(join(out, 'log'), 'utf8') === 'started\n')
    const startedAt = performance.now()
    await daemon.stop()
    expect(performance.now() - startedAt).toBeLessThan(25_000)
    writeFileSync(join(out, 'second'), '')
    const next = await home.start({ slow: { command: { run: [hook] } } })
    const sent = await until(async () => (await listed(next)).find(({ state }) => state === 'sent'))
    expect(sent.attempts).toBe(1)
    expect(readFileSync(join(out, 'log'), 'utf8')).toBe('started\nstarted\n')
  })

  it('a program that is not there is named', async () => {
    const daemon = await home.start({ gone: { command: { run: ['no-such-program-at-all'] }, attempts: 1 } })
    const task = await finish(daemon, 'true')
    expect((await ran(daemon, task)).data.failure).toMatch(/"no-such-program-at-all" was not found/)
  })

  describe('at the end of work', () => {
    const repository = () => {
      const path = folder()
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', ...args])
      git('init', '--quiet')
      writeFileSync(join(path, 'old.txt'), 'one\n')
      git('add', '.')
      git('commit', '--quiet', '-m', 'first')
      chmodSync(path, 0o777)
      chmodSync(join(path, 'old.txt'), 0o666)
      return path
    }

    it('a command is given the branch and all that changed, new files included, and the index stays as it was', async () => {
      const out = folder()
      const hook = script(
        `cp "$PAWL_DIFF" ${out}/diff; echo "$PAWL_BRANCH" > ${out}/branch; echo "$PAWL_WORKSPACE" > ${out}/workspace`,
      )
      const workspace = repository()
      const index = readFileSync(join(workspace, '.git/index'))
      const daemon = await home.start({ pr: { onDone: { run: [hook] } } })
      const task = await finish(daemon, 'echo two >> old.txt; echo fresh > new.txt', { workspace })
      expect((await ran(daemon, task)).data).toMatchObject({ exitCode: 0 })
      const diff = readFileSync(join(out, 'diff'), 'utf8')
      expect(diff).toMatch(/^\+two$/m)
      expect(diff).toMatch(/^\+\+\+ b\/new\.txt$/m)
      expect(readFileSync(join(out, 'branch'), 'utf8').trim()).toMatch(/^(main|master)$/)
      expect(readFileSync(join(out, 'workspace'), 'utf8').trim()).toBe(workspace)
      expect(readFileSync(join(workspace, '.git/index')).equals(index)).toBe(true)
    })

    it('of a clone it is given the branch that the task has, and what was committed there', async () => {
      const out = folder()
      const hook = script(`cp "$PAWL_DIFF" ${out}/diff; echo "$PAWL_BRANCH $PAWL_REPOSITORY" > ${out}/facts`)
      const workspace = repository()
      const daemon = await home.start({ pr: { onDone: { run: [hook] } } })
      const agent = commandAgent(['/bin/sh', '-c', 'echo two >> old.txt; git commit -qam second; echo left > left.txt'])
      const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig: agent, workspace, workspaceMode: 'clone' }, by)
      expect((await ran(daemon, task.id)).data).toMatchObject({ exitCode: 0 })
      expect(readFileSync(join(out, 'facts'), 'utf8').trim()).toBe(`pawl/${task.id} ${workspace}`)
      expect(readFileSync(join(out, 'diff'), 'utf8')).toMatch(/^\+two$/m)
      expect(readFileSync(join(out, 'diff'), 'utf8')).toMatch(/^\+left$/m)
    })

    it('a tree that would have programs run when git looks at it runs none of them outside of the walls', async () => {
      const out = folder()
      chmodSync(out, 0o777)
      const workspace = repository()
      const planted = `[filter "x"]\n\tclean = touch ${out}/filter\n[core]\n\tfsmonitor = touch ${out}/monitor\n[diff "x"]\n\tcommand = touch ${out}/driver\n\ttextconv = touch ${out}/conv\n`
      writeFileSync(join(workspace, '.git/config'), `${readFileSync(join(workspace, '.git/config'), 'utf8')}${planted}`)
      writeFileSync(join(workspace, '.gitattributes'), '* filter=x diff=x\n')
      mkdirSync(join(workspace, 'sub'))
      const daemon = await home.start({ pr: { onDone: { run: [script('cat > /dev/null; echo "$PAWL_BRANCH"')] } } })
      const task = await finish(daemon, 'true', { workspace })
      expect((await ran(daemon, task)).data).toMatchObject({ exitCode: 0 })
      for (const trace of ['filter', 'monitor', 'driver', 'conv']) expect(existsSync(join(out, trace)), trace).toBe(false)
      // They are real: whoever looks without care runs them.
      execFileSync('git', ['-C', workspace, 'add', '--all'])
      expect(existsSync(join(out, 'filter'))).toBe(true)
    })

    it('a link that the agent left is told as a link, and nothing of what it leads to', async () => {
      const out = folder()
      const outside = folder()
      writeFileSync(join(outside, 'secret'), 'hidden-word\n')
      const workspace = repository()
      const daemon = await home.start({ pr: { onDone: { run: [script(`cp "$PAWL_DIFF" ${out}/diff`)] } } })
      const task = await finish(daemon, `ln -s ${outside}/secret leak; ln -s ${outside} folder`, { workspace })
      expect((await ran(daemon, task)).data).toMatchObject({ exitCode: 0 })
      const diff = readFileSync(join(out, 'diff'), 'utf8')
      expect(diff).toContain(`+${outside}/secret`)
      expect(diff).toMatch(/^new file mode 120000$/m)
      expect(diff).not.toContain('hidden-word')
    })

    it('work that failed runs no such command', async () => {
      const daemon = await home.start({ pr: { onDone: { run: [script('true')] } } })
      await finish(daemon, 'exit 3')
      expect(await listed(daemon)).toEqual([])
    })
  })
})
