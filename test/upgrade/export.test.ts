import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { createClient } from '../../src/client/index.ts'
import { openRuntime } from '../../src/daemon/daemon.ts'
import { restoreHome } from '../../src/daemon/restore-home.ts'
import { joined } from '../../src/domain/base/lines-of.ts'
import { NewSchedule } from '../../src/domain/schedule/schedule.ts'
import { bundle } from '../bundle.ts'
import { commandFailpoints } from '../crash/failpoints.ts'
import { pawl } from '../e2e/pawl.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, makeHome, startEngine, until } from '../engine/home.ts'

const file = join(import.meta.dirname, 'schema-0018.pawl')

async function homeOf() {
  const home = await makeHome(undefined, { bare: true })
  onTestFinished(home.remove)
  return home.path
}

it('all tasks of a home are exported as JSON lines and go on in another, once, however often they are imported', {
  timeout: 180_000,
}, async () => {
  const [from, to] = [await homeOf(), await homeOf()]
  await restoreHome({ config: await loadTestConfig(from), file, log: silentLog })
  const exported = await pawl(from, ['export'])
  expect([exported.code, exported.stderr]).toEqual([0, ''])
  expect(exported.stdout).not.toContain('key_fingerprint')
  const lines = exported.stdout.trimEnd().split('\n')
  expect(JSON.parse(lines[0]!)).toMatchObject({ kind: 'pawl-export', version: 1 })
  const kinds = new Set(lines.map((line) => (JSON.parse(line) as { kind: string }).kind))
  expect([...kinds]).toEqual(
    expect.arrayContaining(['session', 'schedule', 'task', 'run', 'question', 'check', 'head', 'event', 'end']),
  )
  const last = JSON.parse((await pawl(from, ['show', 'last', '--json'])).stdout) as { id: string }
  const one = (await pawl(from, ['export', '--task', last.id.slice(-6)])).stdout
  expect(
    one
      .split('\n')
      .filter((line) => line.startsWith('{"kind":"task"'))
      .join(),
  ).toContain(last.id)
  // A reader that left ends it.
  const leaving = ['-c', '"$0" "$1" export | head -n 1', process.execPath, (await bundle()).pawl]
  const left = spawnSync('sh', leaving, { env: { ...process.env, PAWL_HOME: from }, encoding: 'utf8', timeout: 60_000 })
  expect([left.status, left.stdout.split('\n')[0]]).toEqual([0, expect.stringContaining('pawl-export')])

  // A file that was cut brings the tasks that are whole in it; the whole file, read after it, the rest.
  await writeFile(join(to, 'cut.jsonl'), lines.slice(0, Math.floor(lines.length / 2)).join('\n'))
  await writeFile(join(to, 'all.jsonl'), exported.stdout)
  const take = async (name: string) =>
    JSON.parse((await pawl(to, ['import', name, '--json'])).stdout) as Record<'imported' | 'skipped', string[]> & {
      cut: string | null
      isWhole: boolean
    }
  // Killed at any point, it has taken nothing by half.
  const points = commandFailpoints.filter((point) => point.startsWith('import.'))
  for (const point of points)
    expect((await pawl(to, ['import', 'cut.jsonl'], { env: { PAWL_FAILPOINT: `${point}=kill` } })).code, point).toBeNull()
  const half = await take('cut.jsonl')
  expect(half).toMatchObject({ isWhole: false })
  const whole = await take('all.jsonl')
  const again = await take('all.jsonl')
  const halves = [...half.skipped, ...half.imported]
  // The last kill came after a commit.
  expect([half.skipped.length, half.imported.length > 0]).toEqual([1, true])
  expect(whole).toMatchObject({ skipped: halves, cut: null, isWhole: true })
  // Cut between two tasks, it looks like a smaller one but for its last line; one of an earlier Pawl had none.
  const between = lines.slice(0, lines.findIndex((line) => line.startsWith('{"kind":"end"')) + 1)
  await writeFile(join(to, 'between.jsonl'), between.join('\n'))
  const said = await pawl(to, ['import', 'between.jsonl'])
  expect([said.code, said.stderr]).toEqual([1, expect.stringContaining('it was cut')])
  await writeFile(join(to, 'earlier.jsonl'), [between[0]!.replace(',"closes":true', ''), ...between.slice(1)].join('\n'))
  expect(await take('earlier.jsonl')).toMatchObject({ cut: null, isWhole: true })
  expect([whole.imported.length + halves.length, again.imported.length, again.skipped.length]).toEqual([54, 0, 54])

  const old = await openRuntime({ config: await loadTestConfig(from), log: silentLog })
  const daemon = await startEngine(to)
  onTestFinished(async () => {
    await daemon.stop()
    await old.stop()
  })
  for (const id of again.skipped) {
    const before = await old.runtime.getTask(id)
    const page = { after: 0, limit: 1_000 }
    const events = await old.runtime.readEvents(id, page)
    expect((await daemon.runtime.readEvents(id, page)).slice(0, events.length)).toEqual(events)
    if (before.state !== 'running') expect(await daemon.runtime.getTask(id)).toEqual(before)
    // It went on when it was exported: its run is given back and it costs no try.
    else await until(async () => (await daemon.runtime.getTask(id)).runs.some(({ outcome }) => outcome === 'interrupted'))
  }
  const blocked = (await daemon.runtime.listTasks({ states: ['blocked'], limit: 10 })).items[0]!
  const question = (await daemon.runtime.getTask(blocked.id)).questions.find(({ state }) => state === 'pending')!
  await daemon.runtime.answerQuestion(question.id, 'green', { by: 'test' })
  await until(async () => (await daemon.runtime.getTask(blocked.id)).state === 'completed', 40_000)
  expect(await daemon.audit.verify()).toMatchObject({ isWhole: true })
})

it('an import that somebody has tampered with is refused where it stands, and says nothing about processes of this place', {
  timeout: 60_000,
}, async () => {
  const own = await openRuntime({ config: await loadTestConfig(await homeOf()), log: silentLog })
  onTestFinished(() => own.stop())
  const header = { kind: 'pawl-export', version: 1 }
  const take = (...lines: unknown[]) =>
    own.runtime.importTasks(
      (async function* () {
        for (const line of [header, ...lines]) yield JSON.stringify(line)
      })(),
      { by: 'test' },
    )
  const session = 's_1m7hb3qaj340h1e843'
  const evil: [unknown, RegExp][] = [
    [{ kind: 'task' }, /it has no row/],
    [{ kind: 'task', row: { id: '../../x', session_id: session } }, /its id is none/],
    [{ kind: 'session', row: { id: '../../../etc' } }, /its id is none/],
    [{ kind: 'session_file', row: { session_id: session, path: '../../.ssh/authorized_keys', chunks: [] } }, /lies outside/],
    [{ kind: 'session_file', row: { session_id: session, path: 'a' } }, /chunks are none/],
    [{ kind: 'profile', row: { digest: `sha256:${'0'.repeat(64)}`, profile: { name: 'strict' } } }, /its digest names/],
    [
      { kind: 'task', row: { id: 't_1m7hb3qaj340h1e843', session_id: session, spec: { attachments: [{ name: '../x' }] } } },
      /the name of one of its files/,
    ],
    [{ kind: 'users', row: { name: 'me', role: 'admin' } }, /not known here/],
    [{ kind: 'tokens', row: {} }, /not known here/],
  ]
  for (const [line, message] of evil) await expect(take(line)).rejects.toThrow(message)
})

it('the API gives and takes an export, to admins alone, as it was at one moment', { timeout: 120_000 }, async () => {
  const [from, to] = [await homeOf(), await homeOf()]
  const begin = async (path: string) => {
    const config = await loadTestConfig(path)
    const daemon = await startEngine(path, { config: { ...config, server: { ...config.server, port: 0 } }, http: true })
    onTestFinished(() => daemon.stop())
    const token = (await readFile(join(path, 'token'), 'utf8')).trim()
    return { daemon, client: createClient({ url: daemon.url!, token }), token }
  }
  const [here, there] = [await begin(from), await begin(to)]
  const agentConfig = commandAgent(['cat'])
  const made: string[] = []
  const make = async (prompt: string) => {
    const { task } = await here.client.createTask({ prompt, agentConfig })
    await eventsUntil(here.daemon, task.id, isResting)
    made.push(task.id)
  }
  await make('one')
  await make('two')

  const often = { name: 'often', when: { kind: 'every', everyMs: 3_600_000 }, task: { prompt: 'tick', agentConfig } }
  await here.client.createSchedule(NewSchedule.parse(often))
  await here.client.runSchedule('often')
  const fired = await until(async () => (await here.client.listTasks({ text: 'tick', states: ['completed'] })).items[0]?.id)
  made.push(fired)
  const lines = (await joined(here.client.exportTasks(), '\n')).split('\n')
  const idsIn = (texts: readonly string[]) =>
    texts
      .map((line) => JSON.parse(line) as { kind: string; row: { id: string } })
      .flatMap(({ kind, row }) => (kind === 'task' ? row.id : []))
  expect(idsIn(lines)).toEqual(made)
  expect(JSON.parse(lines.at(-2)!)).toMatchObject({ kind: 'tick', row: { task_id: fired, state: 'succeeded' } })
  expect(JSON.parse(lines.at(-1)!)).toEqual({ kind: 'pawl-export-end', lines: lines.length - 1 })

  // What is made when it has begun is not in it, and there is one at a time.
  const begun: string[] = []
  for await (const line of here.daemon.runtime.exportTasks({}, { by: 'test' })) {
    begun.push(line)
    if (begun.length !== 2) continue
    await make('too late')
    await expect(joined(here.client.exportTasks())).rejects.toThrow('under way')
  }
  expect(idsIn(begun)).toEqual(made.slice(0, 3))
  const one = (await joined(here.client.exportTasks({ tasks: [made[3]!] }), '\n')).split('\n')
  expect(one.filter((line) => line.startsWith('{"kind":"task"'))).toHaveLength(1)

  expect(await there.client.importTasks(lines.join('\n'))).toEqual({
    imported: made.slice(0, 3),
    skipped: [],
    cut: null,
    isWhole: true,
  })
  expect(await there.client.importTasks([...lines, ...one.slice(1)].join('\n'))).toMatchObject({
    imported: [made[3]],
    skipped: made.slice(0, 3),
  })
  expect((await there.client.getTask(made[0]!)).result).toEqual((await here.client.getTask(made[0]!)).result)
  expect((await there.client.getSchedule('often')).state).toBe('active')
  await expect(there.client.importTasks('{"kind":"other"}')).rejects.toThrow('no export of Pawl')

  await here.daemon.entrance.createUser({ name: 'op', role: 'operator' }, { by: 'test' })
  const { token } = await here.daemon.entrance.createToken({ user: 'op' }, { by: 'test' })
  const operator = createClient({ url: here.daemon.url!, token })
  await expect(joined(operator.exportTasks())).rejects.toThrow()
  await expect(operator.importTasks('{}')).rejects.toThrow()
})
