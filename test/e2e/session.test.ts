import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { type Ended, json, pawl, serve } from './pawl.ts'

const vendorId = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
const unknownId = '11111111-5f0a-4d7b-9a51-3c1f2a6d8e70'
const conversation = `.claude/projects/-somewhere/${vendorId}.jsonl`

/** A home of a user who has spoken with a program before, and a folder of theirs. */
async function makeUser() {
  const home = await makeHome()
  const folder = join(home.path, 'project')
  await mkdir(folder)
  await mkdir(join(home.path, '.claude/projects/-somewhere'), { recursive: true })
  await writeFile(join(home.path, conversation), '{"type":"user"}\n')
  await writeFile(
    join(home.path, 'config.yaml'),
    [
      'agents:',
      `  counter: { adapter: custom, command: [sh, -c, "echo '{\\"n\\":1}'"] }`,
      '  patient: { adapter: custom, command: [sh, -c, "echo begun; sleep 100"] }',
      '',
    ].join('\n'),
  )
  return { home: home.path, folder, remove: home.remove }
}
type User = Awaited<ReturnType<typeof makeUser>>

const sessionOf = (ended: Ended) => json<{ task: { session: string } }>(ended).task.session

describe('sessions without a daemon', () => {
  let user: User
  beforeAll(async () => {
    user = await makeUser()
  })
  afterAll(async () => {
    await pawl(user.home, ['stop'])
    await user.remove()
  })
  const run = (...args: string[]) => pawl(user.home, args, { cwd: user.folder })

  it('are adopted from the program itself, and it is said how to go on', async () => {
    const adopted = await run('sessions', 'adopt', vendorId)
    const id = adopted.stdout.trim()
    expect([adopted.code, id]).toEqual([0, expect.stringMatching(/^s_[0-9a-z]{18}$/)])
    expect(adopted.stderr).toContain(`pawl run --session ${id} "…"`)
    expect(await readFile(join(user.home, conversation), 'utf8')).toBe('{"type":"user"}\n')
    expect(await readFile(join(user.home, 'sessions', id, conversation), 'utf8')).toBe('{"type":"user"}\n')
    expect(json(await run('sessions', 'show', id.slice(-6), '--json'))).toMatchObject({
      ...{ id, agent: 'claude', adapter: 'claude-code', vendorId, workspace: user.folder },
      ...{ taskCount: 0, lastTask: null, archivedBytes: 16, tasks: [], title: null, openQuestions: 0, costUsd: null },
    })
    const listed = await run('sessions', 'ls')
    expect(listed.stdout).toMatch(new RegExp(`^${id} +claude +0 +- +16 B .*${user.folder}$`, 'm'))
    expect(json(await run('sessions', 'stop', id, '--json'))).toEqual({ session: id, stopped: null })
  })

  it.each([
    ['a conversation that is not there', [unknownId], 1, `.claude/projects/*/${unknownId}.jsonl`],
    ['one of another program', [vendorId, '--agent', 'codex'], 1, '.codex/sessions/'],
    ['what is no id', ['../../x'], 2, '"../../x" is not an id'],
    ['an agent that is not there', [vendorId, '--agent', 'cluade'], 2, 'did you mean "claude"'],
    ['an agent whose program keeps none', [vendorId, '--agent', 'counter'], 1, 'keeps no conversations'],
    ['a workspace that is not there', [vendorId, '--workspace', 'nowhere'], 2, 'nowhere does not exist'],
  ])('are not adopted from %s', async (_, args, code, says) => {
    const ended = await run('sessions', 'adopt', ...args)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toContain(says)
    expect(ended.stderr).not.toMatch(/\n\s+at /)
  })

  it('go on with their agent and where they began, from any folder, and begin anew when asked to', async () => {
    const session = sessionOf(await run('run', '--json', '--agent', 'demo', 'look --no-question'))
    const elsewhere = join(user.home, 'elsewhere')
    await mkdir(elsewhere)
    const on = async (...args: string[]) => {
      const asked = ['run', '--output-format', 'stream-json', '--session', session, ...args, 'again --no-question']
      const ended = await pawl(user.home, asked, { cwd: elsewhere })
      expect(ended.code).toBe(0)
      const events = ended.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      const started = events.find((event) => event.type === 'run.started')
      return { resumed: started.data.resumed, types: events.map((event) => event.type), result: events.at(-1) }
    }
    const resumed = await on()
    expect([resumed.resumed, resumed.result.task]).toMatchObject([true, { session, agent: 'demo' }])
    expect(existsSync(join(elsewhere, 'pawl-demo.md'))).toBe(false)
    const anew = await on('--reset-session')
    expect(anew.resumed).toBe(false)
    expect(anew.types).toContain('session.reset')
    expect(json<{ taskCount: number }>(await run('sessions', 'show', session, '--json')).taskCount).toBe(3)
    expect(json<{ items: unknown[] }>(await run('ls', '--session', session, '--json')).items).toHaveLength(3)
    expect((await run('task', 'show', 'last')).stdout).toMatch(new RegExp(`^session +${session}$`, 'm'))
  })

  it('hold an answer to the schema that was given as a file or as JSON', async () => {
    const schema = (type: string) => JSON.stringify({ type: 'object', properties: { n: { type } }, required: ['n'] })
    await writeFile(join(user.folder, 'number.json'), schema('number'))
    const fits = await run('run', '--agent', 'counter', '--output-schema', 'number.json', 'count')
    expect([fits.code, fits.stdout]).toEqual([0, '{"n":1}\n'])
    const unfit = await run('run', '--json', '--agent', 'counter', '--output-schema', schema('string'), 'count')
    expect([unfit.code, json(unfit)]).toMatchObject([1, { task: { state: 'failed', reason: { kind: 'invalid_output' } } }])
  })
})

describe('sessions with a daemon', () => {
  it('are adopted, listed and stopped through it', async () => {
    const user = await makeUser()
    const daemon = await serve(user.home)
    const run = (...args: string[]) => pawl(user.home, args, { cwd: user.folder })
    const id = (await run('sessions', 'adopt', vendorId, '--agent', 'claude')).stdout.trim()
    const ask = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' }
      const post = body && { method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(`${daemon.url}/api/v1/sessions${path}`, { headers, ...post })
      return [response.status, await response.json()]
    }
    expect(await ask('')).toMatchObject([200, { items: [{ id, agent: 'claude', vendorId }], next: null }])
    expect(await ask('/adopt', { vendorId: unknownId, agent: 'claude', workspace: user.folder })).toMatchObject([
      404,
      { code: 'not_found', detail: expect.stringContaining('.claude/projects/*/') },
    ])
    expect((await run('sessions', 'adopt', unknownId)).stderr).toContain('looked for')

    const task = (await run('run', '--detach', '--agent', 'patient', 'x')).stdout.trim()
    const shown = async () => json<{ state: string; session: string }>(await run('task', 'show', task, '--json'))
    await until(async () => (await shown()).state === 'running')
    const { session } = await shown()
    expect(json(await run('sessions', 'stop', session, '--now', '--json'))).toMatchObject({ session, stopped: { id: task } })
    await until(async () => (await shown()).state === 'cancelled')
    expect((await run('sessions', 'stop', session)).stderr).toContain(`Nothing runs on session ${session}.`)

    const { rows } = json<{ rows: { name: string; detail: string }[] }>(await run('doctor', '--json'))
    expect(rows.find((row) => row.name === 'daemon')?.detail).toContain(daemon.url)
    await run('stop')
    await daemon.ended
    await user.remove()
  })
})
