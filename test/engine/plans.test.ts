import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { appendEvents } from '../../src/store/events.ts'
import { findTask, insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeParts } from './store.ts'

it('however long the journals are, what an agent says is stored by way of an index', async () => {
  const { db, addTask, addWorker, admit } = await makeParts()
  const [task, worker] = [await addTask(), await addWorker()]
  const run = await admit(task, 1, worker)
  const plan = await db.connection().execute(async (one) => {
    const event = { type: 'agent.message', data: { text: 'x' } } as const
    await appendEvents(one, [{ task: task.id, run: run.id, runNo: 0, fence: 1, at: new Date(), event }])
    // The plan that the server keeps after some uses.
    await sql`set plan_cache_mode = force_generic_plan`.execute(one)
    const { rows } = await sql<{ name: string }>`
      select name from pg_prepared_statements where statement like '%insert into pawl.events%' and name like 'pawl%'
    `.execute(one)
    return sql<{ 'QUERY PLAN': string }>`${sql.raw(`explain execute ${rows[0]!.name}(null)`)}`.execute(one)
  })
  const lines = plan.rows.map((row) => row['QUERY PLAN'])
  expect(lines.filter((line) => line.includes('Seq Scan'))).toEqual([])
  expect(lines.filter((line) => /Index Scan using (events_run_no|journal_heads_pkey)/.test(line))).not.toEqual([])
})

it('the row that a new task answers with is the one that is stored', async () => {
  const { db } = await makeParts()
  const session = { id: 'ses_1', isNew: true }
  const task = {
    id: 'tsk_1',
    session,
    agent: commandAgent(['true']),
    prompt: 'half a pair: \ud83d',
    workspace: '/tmp/w',
    workspaceOwn: false,
  }
  const rest = {
    priority: 2,
    rank: 7,
    tags: ['a'],
    extraArgs: ['-x'],
    attended: true,
    boundTo: 'w',
    at: new Date(1_700_000_000_123),
  }
  const continuation = { kind: 'retry', fresh: true } as const
  const row = await insertTask(db, { ...task, ...rest, outputSchema: { type: 'object' }, continuation })
  expect(row).toEqual(await findTask(db, 'tsk_1'))
})
