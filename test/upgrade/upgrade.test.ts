import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { renderEvent } from '../../src/cli/text/render.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { restoreHome } from '../../src/daemon/restore-home.ts'
import { type Event, eventData } from '../../src/domain/event/event.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { checkArchive } from '../../src/store/backup/archive-reader.ts'
import { restoreBackup } from '../../src/store/backup/restore.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openStore } from '../../src/store/open.ts'
import { loadTestConfig, makeHome, startEngine, until } from '../engine/home.ts'

const file = join(import.meta.dirname, 'schema-0018.pawl')
const golden = JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, 'schema-0018.golden.json.gz'))).toString()) as {
  task: TaskView
  events: Event[]
}[]

/** One that the backup is restored into, which brings it up to date; and one that is left as that Pawl left it. */
let home: Awaited<ReturnType<typeof makeHome>>
let old: Awaited<ReturnType<typeof makeHome>>
const daemons: Daemon[] = []
beforeAll(async () => {
  home = await makeHome(undefined, { bare: true })
  old = await makeHome(undefined, { bare: true })
  const done = await restoreHome({ config: await loadTestConfig(home.path), file, log: silentLog })
  expect(done).toMatchObject({ backup: { schema: 18 }, audit: { isWhole: true }, sealedSecrets: 0 })
  await leaveAtSchema18(old.path)
}, 90_000)
afterAll(async () => {
  for (const daemon of daemons) await daemon.stop()
  await home.remove()
  await old.remove()
})

/** The tables of that time with their rows, the files of that home, and not a step further. */
async function leaveAtSchema18(path: string): Promise<void> {
  const store = await openStore({ home: path, url: undefined, log: silentLog })
  const client = await store.database.alone()
  try {
    const upTo = migrations.filter(({ id }) => id <= 18)
    await restoreBackup(client, await checkArchive(file), { home: path, now: new Date(), ownConnections: 1, migrations: upTo })
    expect((await client.query('select max(id) as id, count(*)::integer as count from pawl.migrations')).rows).toEqual([
      { id: 18, count: 18 },
    ])
  } finally {
    await client.end()
    await store.close()
  }
}

it('a migration that fails leaves the store as it was', { timeout: 60_000 }, async () => {
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  const client = await store.database.alone()
  try {
    const applied = async () => (await client.query('select id from pawl.migrations order by id')).rows
    const before = await applied()
    const broken = { id: 9_999, name: 'broken', sql: 'alter table pawl.tasks add column x text; select no_such_function()' }
    await expect(migrate(client, new Date(), [...migrations, broken])).rejects.toThrow('no_such_function')
    expect(await applied()).toEqual(before)
    expect(before.map(({ id }) => id)).toEqual(migrations.map(({ id }) => id))
  } finally {
    await client.end()
    await store.close()
  }
})

it.each([
  ['restored', () => home.path],
  ['opened in place', () => old.path],
])(
  'every task and every event of an earlier schema, %s, is told as it was told then, and what was open goes on',
  {
    timeout: 120_000,
  },
  async (_, pathOf) => {
    const path = pathOf()
    const daemon = await startEngine(path)
    daemons.push(daemon)
    const { runtime } = daemon
    const states = new Set<string>()
    for (const { task, events } of golden) {
      states.add(task.state)
      const stored = await runtime.readEvents(task.id, { after: 0, limit: 1_000 })
      expect(stored.slice(0, events.length)).toEqual(events)
      for (const event of stored) {
        eventData[event.type].parse(event.data)
        expect(() => renderEvent(event)).not.toThrow()
      }
      if (task.state === 'running') continue
      // Folders of Pawl's own have the path of this home by now, and a later Pawl may tell more.
      const { workspace, ...rest } = task
      expect(await runtime.getTask(task.id)).toMatchObject(rest)
      expect((await runtime.getTask(task.id)).workspace).toBe(join(path, 'workspaces', task.id))
      expect(workspace).toMatch(new RegExp(`/workspaces/${task.id}$`))
    }
    expect([...states].sort()).toEqual(['blocked', 'completed', 'failed', 'review', 'running'])
    expect(golden.length).toBeGreaterThanOrEqual(50)

    const of = (state: string) => golden.find(({ task }) => task.state === state)!.task
    await runtime.answerQuestion(of('blocked').questions.find((one) => one.state === 'pending')!.id, 'green', { by: 'test' })
    await runtime.acceptTask(of('review').id, { by: 'test' })
    for (const [state, text] of [
      ['blocked', 'heard it'],
      ['running', 'went on'],
      ['review', 'look at it'],
    ] as const) {
      const ended = await until(async () => {
        const task = await runtime.getTask(of(state).id)
        return task.state === 'completed' && task
      }, 60_000)
      expect([state, ended.result?.text]).toEqual([state, text])
    }
    expect(await runtime.getSchedule('nightly')).toMatchObject({ state: 'active' })
    expect(await daemon.secrets.rekey({ by: 'test' }, {})).toMatchObject({ secrets: 1 })
    expect(await daemon.audit.verify()).toMatchObject({ isWhole: true })
  },
)
