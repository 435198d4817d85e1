import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { outcomes } from '../../src/domain/run/outcome.ts'
import { type MoveName, moves, type TaskState, taskStates } from '../../src/domain/task/task.ts'
import { settle } from '../../src/engine/base/retry.ts'
import { queueSchemaVersion } from '../../src/engine/queue/dispatch.ts'
import { migrate, migrateStore } from '../../src/store/migrate.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { insertTask, moveTask } from '../../src/store/tasks.ts'
import { commandAgent, makeHome } from './home.ts'

describe('the table of moves', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let store: Store
  const at = new Date(Date.UTC(2030, 0, 1))
  const id = 't_000000000000000001'

  beforeAll(async () => {
    home = await makeHome(undefined, { bare: true })
    store = await openStore({ home: home.path, url: undefined, log: silentLog })
    await migrateStore(store.database, { now: at, queueVersion: queueSchemaVersion })
    const session = { id: 's_000000000000000001', isNew: true }
    const task = {
      id,
      session,
      agent: commandAgent(['true']),
      prompt: 'x',
      workspace: '/tmp/x',
      workspaceOwn: true,
      priority: 0,
      rank: 0,
    }
    await insertTask(store.database.db, { ...task, tags: [], extraArgs: [], attended: false, boundTo: null, at })
  })
  afterAll(async () => {
    await store.close()
    await home.remove()
  })

  /** Tries a move from a state, and takes it back. */
  const attempt = async (state: TaskState, name: MoveName, fence: number): Promise<boolean> => {
    let applied = false
    await store.database.db
      .transaction()
      .execute(async (tx) => {
        await sql`update pawl.tasks set state = ${state}, fence = 3 where id = ${id}`.execute(tx)
        applied = (await moveTask(tx, id, name, { at, reason: null, ...(moves[name].fenced ? { fence } : {}) })) !== undefined
        throw new Error('take back')
      })
      .catch((error: Error) => {
        if (error.message !== 'take back') throw error
      })
    return applied
  }

  it('is the only way: the store refuses every move that is not in it', async () => {
    for (const state of taskStates)
      for (const name of Object.keys(moves) as MoveName[]) {
        const allowed = (moves[name].from as readonly TaskState[]).includes(state)
        expect([state, name, await attempt(state, name, 3)]).toEqual([state, name, allowed])
      }
  })

  it('lets no run move a task whose fence it does not hold', async () => {
    for (const name of (Object.keys(moves) as MoveName[]).filter((move) => moves[move].fenced))
      expect([name, await attempt('running', name, 2)]).toEqual([name, false])
  })

  it('has exactly one state for every outcome of a run', () => {
    for (const outcome of outcomes) {
      const policy = { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 }
      const task = {
        id: 't_1',
        hasStarted: true,
        suspect: null,
        review: false,
        once: false,
        openSubtasks: 0,
        untoldSubtasks: 0,
        checkAttempts: 0,
        checksFailed: 0,
        sameEnds: 0,
        windows: 0,
      }
      const { move } = settle({ end: { outcome, text: '' }, task, attempts: 0, ownFailures: 0, policy, nowMs: 0, chance: 0 })
      expect(moves[move].from).toContain('running')
    }
  })

  it('refuses a database whose schema, or whose queue, is newer than this program', async () => {
    const client = await store.database.pool.connect()
    try {
      await expect(migrate(client, at, [])).rejects.toThrow(/newer Pawl/)
      await client.query('create schema if not exists pgboss; create table if not exists pgboss.version (version int)')
      await client.query('insert into pgboss.version values ($1)', [queueSchemaVersion + 1])
      await expect(migrateStore(store.database, { now: at, queueVersion: queueSchemaVersion })).rejects.toThrow(
        /job queue has version/,
      )
    } finally {
      client.release()
    }
  })
})
