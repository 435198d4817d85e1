import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl, serve, startPawl } from './pawl.ts'

/** One-shots and commands without a daemon, as a user types them. */
describe('pawl without a daemon', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let folder: string

  beforeAll(async () => {
    home = await makeHome()
    folder = join(home.path, 'project')
    await mkdir(folder)
    await writeFile(
      join(home.path, 'config.yaml'),
      [
        'agents:',
        '  helper: { adapter: custom, command: [cat] }',
        '  failing: { adapter: custom, command: [sh, -c, "echo partly; echo broken >&2; exit 7"] }',
        '  slow: { adapter: custom, command: [sh, -c, "echo begun; touch begun; sleep 100"], timeout: 4s }',
        '  patient: { adapter: custom, command: [sh, -c, "echo begun; touch begun; sleep 100"] }',
        '  missing: { adapter: custom, command: [no-such-program-here] }',
        '  silent: { adapter: custom, command: ["true"] }',
        '',
      ].join('\n'),
    )
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'])
    await home.remove()
  })
  const run = (...args: string[]) => pawl(home.path, ['run', ...args], { cwd: folder })

  it('runs one task, prints the result alone on stdout and ends with 0', async () => {
    const ended = await run('--agent', 'helper', 'list the files here')
    expect(ended).toMatchObject({ code: 0, stdout: 'list the files here\n' })
    expect(ended.stderr).toContain('completed')
    expect(ended.stderr).not.toMatch(/\x1b/)
  })

  it('answers --json in the documented shape', async () => {
    const ended = await run('--json', '--agent', 'helper', 'hello')
    expect(json(ended)).toMatchObject({
      task: {
        id: expect.stringMatching(/^t_/),
        state: 'completed',
        reason: null,
        agent: 'helper',
        session: expect.stringMatching(/^s_/),
      },
      result: { outcome: 'succeeded', text: 'hello', verified: false, costUsd: null },
    })
  })

  it('works in no home folder unless it is told to, and says what else there is', async () => {
    const person = join(home.path, 'person')
    await mkdir(join(person, '.ssh'), { recursive: true })
    const there = (...args: string[]) =>
      pawl(home.path, ['run', '--agent', 'helper', ...args, 'hello'], { cwd: person, env: { HOME: person } })
    const refused = await there()
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toMatch(/is a home folder.*--workspace DIR.*--scratch.*--allow-home/)
    expect(await there('--scratch')).toMatchObject({ code: 0, stdout: 'hello\n' })
    expect(await there('--allow-home')).toMatchObject({ code: 0, stdout: 'hello\n' })
  })

  it('prints every event as a JSON line with --output-format stream-json', async () => {
    const ended = await run('--output-format', 'stream-json', '--agent', 'helper', 'hello')
    const lines = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    // As root the agent works on a copy, and a note says so.
    const types = lines.map((line) => line.type).filter((type) => type !== 'run.noted')
    expect(types).toEqual([
      'task.queued',
      'run.admitted',
      'run.started',
      'agent.message',
      'run.ended',
      'task.completed',
      'result',
    ])
    expect(lines.slice(0, -1).map((line) => line.seq)).toEqual(lines.slice(0, -1).map((_, index) => index + 1))
  })

  it('uses demo and says so when nothing is configured', async () => {
    const bare = await makeHome()
    const ended = await pawl(bare.path, ['run', '--json', 'look around --no-question'], { cwd: folder })
    await bare.remove()
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('demo')
    expect(existsSync(join(folder, 'pawl-demo.md'))).toBe(true)
  })

  it('keeps the text of a failing command and ends with 1', async () => {
    const ended = await run('--json', '--agent', 'failing', 'x')
    expect(ended.code).toBe(1)
    expect(json(ended)).toMatchObject({
      task: { state: 'failed', reason: { kind: 'exit_code' } },
      result: { outcome: 'failed', text: 'partly' },
    })
  })

  it('ends with 124 when the time is up and keeps what was said', async () => {
    const ended = await run('--json', '--agent', 'slow', 'x')
    expect(ended.code).toBe(124)
    expect(json(ended)).toMatchObject({ task: { state: 'timed_out' }, result: { text: 'begun' } })
  })

  it('says that an empty answer is empty and ends with 1', async () => {
    const ended = await run('--json', '--agent', 'silent', 'x')
    expect(ended.code).toBe(1)
    expect(json(ended)).toMatchObject({ task: { state: 'completed', reason: { kind: 'empty' } } })
  })

  it('cancels with grace on the first Ctrl-C and ends with 130', async () => {
    const workspace = join(home.path, 'cancel')
    await mkdir(workspace)
    const running = startPawl(home.path, ['run', '--agent', 'patient', 'x'], { cwd: workspace })
    await until(() => /begun/.test(running.stderr()))
    running.process.kill('SIGINT')
    const ended = await running.ended
    expect(ended.code).toBe(130)
    expect(ended.stderr).toMatch(/cancel/i)
  })

  it('takes a prompt of 1 MB, one that starts with a dash, and one from stdin', async () => {
    const large = 'x'.repeat(999_000)
    const fromStdin = await pawl(home.path, ['run', '--agent', 'helper', '-'], { cwd: folder, stdin: large })
    expect(fromStdin.code).toBe(0)
    expect(fromStdin.stdout.length).toBeGreaterThan(900_000)
    expect(await run('--agent', 'helper', '--', '-rf --all')).toMatchObject({ code: 0, stdout: '-rf --all\n' })
  })

  it('lets two one-shots at once share one database', async () => {
    const folders = [join(home.path, 'one'), join(home.path, 'two')]
    for (const each of folders) await mkdir(each)
    const both = await Promise.all(folders.map((cwd, n) => pawl(home.path, ['run', '--agent', 'helper', `hello ${n}`], { cwd })))
    expect(both.map((ended) => [ended.code, ended.stdout])).toEqual([
      [0, 'hello 0\n'],
      [0, 'hello 1\n'],
    ])
  })

  it('works in the folder of Pawl itself, where its own Node lies, as the README has it', async () => {
    const blocked = await pawl(home.path, ['run', '--json', '--agent', 'demo', 'look around'], {
      cwd: join(import.meta.dirname, '../..'),
    })
    expect(blocked.code).toBe(3)
    expect(json(blocked)).toMatchObject({ task: { state: 'blocked' } })
  })

  it('blocks on a question with 3, says what goes on with it, and goes on when it is answered', async () => {
    const workspace = join(home.path, 'asks')
    await mkdir(workspace)
    const blocked = await pawl(home.path, ['run', '--json', '--agent', 'demo', 'report'], { cwd: workspace })
    expect(blocked.code).toBe(3)
    expect(blocked.stderr).toMatch(/pawl answer q_/)
    const { task } = json<{ task: { id: string } }>(blocked)
    const shown = json<{ questions: { id: string; state: string }[] }>(await pawl(home.path, ['task', 'show', task.id, '--json']))
    expect(shown.questions).toMatchObject([{ state: 'pending' }])
    const answered = await pawl(home.path, ['answer', shown.questions[0]!.id, 'the largest files'])
    expect(answered.code).toBe(0)
    const waited = await pawl(home.path, ['task', 'wait', task.id, '--json'])
    expect(waited.code).toBe(0)
    expect(await readFile(join(workspace, 'pawl-demo.md'), 'utf8')).toContain('largest')
  })

  describe('with bad input', () => {
    it.each([
      ['an unknown agent', ['run', '--agent', 'helpr', 'x'], 2, /helper/],
      ['an unknown option', ['run', '--agnet', 'helper', 'x'], 2, /--agent/],
      ['an unknown command', ['rnu', 'x'], 2, /run/],
      ['an empty prompt', ['run', '--agent', 'helper', ''], 2, /prompt/i],
      ['a missing workspace', ['run', '--agent', 'helper', '--workspace', '/no/such/folder', 'x'], 2, /\/no\/such\/folder/],
      ['a program that is not installed', ['run', '--agent', 'missing', 'x'], 1, /no-such-program-here/],
      [
        'a wrong database URL',
        ['run', '--agent', 'helper', '--database-url', 'postgres://127.0.0.1:1/none', 'x'],
        1,
        /database/i,
      ],
    ])('refuses %s in a sentence', async (_, args, code, says) => {
      const before = json<{ items: unknown[] }>(await pawl(home.path, ['ls', '--json']))
      const ended = await pawl(home.path, args, { cwd: folder })
      expect(ended.code).toBe(code)
      expect(ended.stderr).toMatch(says)
      expect(ended.stderr).not.toMatch(/\n\s+at /)
      expect(json<{ items: unknown[] }>(await pawl(home.path, ['ls', '--json'])).items).toHaveLength(before.items.length)
    })

    it('doctor names an agent whose program is missing, with the cure, and ends with 1', async () => {
      const ended = await pawl(home.path, ['doctor', '--json'])
      expect(ended.code).toBe(1)
      const { rows } = json<{ rows: { name: string; level: string; fix?: string }[] }>(ended)
      expect(rows.find((row) => row.name === 'agent missing')).toMatchObject({ level: 'fail', fix: expect.any(String) })
      expect(rows.find((row) => row.name === 'agent helper')).toMatchObject({ level: 'ok' })
      // Programs that Pawl knows and nobody has installed or asked for are no trouble.
      expect(rows.find((row) => row.name === 'other agents')).toMatchObject({
        level: 'note',
        detail: expect.stringContaining('aider'),
      })
      expect(rows.map(({ name }) => name)).not.toContain('agent aider')
    })

    it('names line and column of a broken settings file', async () => {
      const broken = await makeHome()
      await writeFile(join(broken.path, 'pawl.yaml'), 'agents:\n  helper: { adapter: custom, command: [cat }\n')
      const ended = await pawl(broken.path, ['run', 'x'])
      await broken.remove()
      expect(ended.code).toBe(2)
      expect(ended.stderr).toMatch(/pawl\.yaml:2:\d+/)
    })

    it('refuses a port that is taken and asked for by name', async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await new Promise((listening) => other.once('listening', listening))
      const { port } = other.address() as { port: number }
      const ended = await pawl(home.path, ['serve', '--port', String(port)])
      other.close()
      expect(ended.code).toBe(1)
      expect(ended.stderr).toContain(String(port))
    })
  })
})

describe('pawl with a daemon', () => {
  it('keeps nothing open that it was started with, so that no agent inherits it', async () => {
    const home = await makeHome()
    const daemon = await serve(home.path, { inherits: true })
    const inherited = daemon.process.stdio[3] as Socket
    inherited.resume()
    await until(() => inherited.readableEnded)
    expect(daemon.process.exitCode).toBe(null)
    expect((await pawl(home.path, ['stop'])).code).toBe(0)
    await daemon.ended
    await home.remove()
  })

  it('does not trust the settings of a folder that it was started in without a terminal', async () => {
    const home = await makeHome()
    const folder = join(home.path, 'project')
    await mkdir(folder)
    await writeFile(join(folder, 'pawl.yaml'), 'agents:\n  theirs: { adapter: custom, command: [cat] }\n')
    const daemon = await serve(home.path, { cwd: folder })
    const asked = await fetch(`${daemon.url}/api/v1/agents`, { headers: { authorization: `Bearer ${daemon.token}` } })
    const { items } = (await asked.json()) as { items: { name: string }[] }
    expect(items.map((agent) => agent.name)).not.toContain('theirs')
    expect(daemon.stderr()).toMatch(/not trusted.*agents\.theirs.*pawl trust/)
    expect(existsSync(join(home.path, 'trusted.json'))).toBe(false)
    await pawl(home.path, ['stop'])
    await daemon.ended
    await home.remove()
  })

  it('serves, runs tasks for others, refuses a second daemon, and stops', async () => {
    const home = await makeHome()
    await writeFile(
      join(home.path, 'config.yaml'),
      'agents:\n  helper: { adapter: custom, command: [cat] }\n  patient: { adapter: custom, command: [sh, -c, "echo begun; sleep 100"] }\n',
    )
    const daemon = await serve(home.path)
    const workspace = join(home.path, 'w')
    await mkdir(workspace)

    expect(await pawl(home.path, ['run', 'hello'], { cwd: workspace })).toMatchObject({ code: 0, stdout: 'hello\n' })

    const detached = await pawl(home.path, ['run', '--detach', '--agent', 'patient', 'x'], { cwd: workspace })
    const id = detached.stdout.trim()
    expect(id).toMatch(/^t_/)
    await until(async () => json<{ state: string }>(await pawl(home.path, ['task', 'show', id, '--json'])).state === 'running')
    expect((await pawl(home.path, ['task', 'cancel', id, '--now'])).code).toBe(0)
    await until(async () => json<{ state: string }>(await pawl(home.path, ['task', 'show', id, '--json'])).state === 'cancelled')

    const second = await pawl(home.path, ['serve', '--port', '0'])
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/already running/)

    expect((await fetch(`${daemon.url}/api/v1/tasks`)).status).toBe(401)
    const listed = await fetch(`${daemon.url}/api/v1/tasks`, { headers: { authorization: `Bearer ${daemon.token}` } })
    expect(((await listed.json()) as { items: unknown[] }).items).toHaveLength(2)

    const stopped = await pawl(home.path, ['stop'])
    expect(stopped.code).toBe(0)
    expect((await daemon.ended).code).toBe(0)
    await home.remove()
  })
})
