import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, createPawl, type Event, type Pawl, runAgent } from '../../src/library/index.ts'
import { makeHome } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let pawl: Pawl
const workspace = mkdtempSync(join(tmpdir(), 'pawl-library-'))
const config = { agents: { shell: { adapter: 'custom', command: ['sh', '-c', 'cat; cat "$PAWL_ATTACHMENTS"/* 2>/dev/null'] } } }
beforeAll(async () => {
  home = await makeHome('pawl-library-')
  pawl = await createPawl({ home: home.path, cwd: workspace, config })
})
afterAll(async () => {
  await pawl.close()
  await home.remove()
  rmSync(workspace, { recursive: true })
})

test('a run is its events and its task, read as often as one likes, with the types and the verbs of the API', async () => {
  writeFileSync(join(workspace, 'note.txt'), 'from a file\n')
  const told: string[] = []
  const run = pawl.run('say something', {
    agent: 'shell',
    attach: ['note.txt', { name: 'more.txt', content: Buffer.from('from memory\n') }],
    onEvent: (event) => told.push(event.type),
  })
  const seen: Event[] = []
  for await (const event of run) seen.push(event)
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1))
  expect(seen.at(-1)?.type).toBe('task.completed')
  expect(told).toEqual(seen.map(({ type }) => type))
  const again: Event[] = []
  for await (const event of run) again.push(event)
  expect(again).toEqual(seen)
  const task = await run
  expect(task).toEqual(await pawl.getTask(await run.id))
  expect(task).toMatchObject({
    state: 'completed',
    workspace,
    result: { text: expect.stringMatching(/from memory\nfrom a file/) },
  })
  expect((await pawl.listTasks({ limit: 1 })).items[0]?.id).toBe(task.id)
  expect((await pawl.listAgents()).map(({ name }) => name)).toContain('shell')
  await expect(pawl.getTask('t_000000000000000000')).rejects.toMatchObject({ code: 'not_found' })
})

test('a question rests the run; its answer goes on as a run of its own, and one that was asked for elsewhere can be followed', async () => {
  const run = pawl.run('report', { agent: 'demo' })
  const task = await run
  expect(task.state).toBe('blocked')
  const next = pawl.follow(await run.id).answer('the largest files')
  const types: string[] = []
  for await (const event of next) types.push(event.type)
  expect(types).toContain('question.answered')
  expect((await next).state).toBe('completed')
  await expect(next.answer('again').result).rejects.toThrow('waits for no answer')
})

test('a run can be cancelled by its handle and by a signal, and one that is refused rejects', async () => {
  const stopping = new AbortController()
  const runs = [pawl.run('sleep', { agent: 'shell', dependsOn: [await pawl.run('report', { agent: 'demo' }).id] })]
  runs.push(pawl.run('sleep', { agent: 'shell', dependsOn: [await runs[0]!.id], signal: stopping.signal }))
  await runs[1]!.id
  stopping.abort()
  await runs[0]!.cancel({ now: true })
  for (const run of runs) expect((await run).state).toBe('cancelled')
  const refused = pawl.run('x', { agent: 'nobody' })
  await expect(refused.result).rejects.toThrow('nobody')
  await expect(refused.id).rejects.toThrow('nobody')
  await expect(
    (async () => {
      for await (const event of refused) expect(event).toBeUndefined()
    })(),
  ).rejects.toThrow('nobody')
})

test('runAgent opens an engine for one task, gives its events and its task, and a port is opened only when asked for', async () => {
  await pawl.close()
  const run = runAgent('report --no-question', { home: home.path, cwd: workspace, agent: 'demo' })
  const types: string[] = []
  for await (const event of run) types.push(event.type)
  expect(types.at(-1)).toBe('task.completed')
  expect((await run).state).toBe('completed')
  expect((await runAgent('report --no-question', { home: home.path, cwd: workspace, agent: 'demo' })).state).toBe('completed')
  expect(pawl.url).toBeUndefined()
  await using served = await createPawl({ home: home.path, cwd: workspace, config, port: 0, shared: true })
  const { readFileSync } = await import('node:fs')
  const client = createClient({ url: served.url!, token: readFileSync(join(home.path, 'token'), 'utf8').trim() })
  expect((await client.listTasks()).items.length).toBeGreaterThan(3)
  client.close()
})
