import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { canonicalJson } from '../../src/domain/base/canonical-json.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createRedactor } from '../../src/redact/redactor.ts'
import { insertAudit } from '../../src/store/audit.ts'
import { makeParts } from './store.ts'

const caller = { by: 'test', user: 'anna', token: 'k_1' }

async function makeAudit(count: number) {
  const parts = await makeParts()
  const audit = createAudit({ ...parts, clock: systemClock })
  for (let n = 1; n <= count; n++)
    await audit.record(caller, 'task.cancel', `t_${n}`, { n, deep: { b: [1, null], a: 'ü\u2028' } })
  return { ...parts, audit }
}

it('entries are chained in their order, and the chain proves itself', async () => {
  const { audit } = await makeAudit(3)
  const verdict = await audit.verify()
  expect(verdict).toEqual({ isWhole: true, entries: 3, head: expect.stringMatching(/^[0-9a-f]{64}$/), firstBad: null })
  const { items, next } = await audit.list({ limit: 2 })
  expect(items.map(({ seq, actor, via, action, subject }) => [seq, actor, via, action, subject])).toEqual([
    [3, 'anna', 'k_1', 'task.cancel', 't_3'],
    [2, 'anna', 'k_1', 'task.cancel', 't_2'],
  ])
  expect(items[0]!.hash).toBe(verdict.head)
  expect((await audit.list({ limit: 2, cursor: next! })).items.map(({ seq }) => seq)).toEqual([1])
  expect((await audit.list({ limit: 9, actor: 'nobody' })).items).toEqual([])
  expect(await audit.verify({ contains: items[1]!.hash })).toMatchObject({ isWhole: true })
  expect(await audit.verify({ contains: '0'.repeat(64) })).toMatchObject({ isWhole: false, firstBad: { seq: 4 } })
})

it('the database itself refuses to change, take away or empty what is in the audit', async () => {
  const { audit, db } = await makeAudit(2)
  const refused = 'the audit is only ever added to'
  await expect(sql`delete from pawl.audit where subject = 't_1'`.execute(db)).rejects.toThrow(refused)
  await audit.seal()
  await expect(sql`update pawl.audit set actor = 'somebody'`.execute(db)).rejects.toThrow(refused)
  await expect(sql`update pawl.audit set seq = null, hash = null where seq = 2`.execute(db)).rejects.toThrow(refused)
  await expect(sql`delete from pawl.audit where seq = 2`.execute(db)).rejects.toThrow(refused)
  await expect(sql`truncate pawl.audit`.execute(db)).rejects.toThrow(refused)
  expect(await audit.verify()).toMatchObject({ isWhole: true, entries: 2 })
})

const tampering = {
  'a changed actor': [`update pawl.audit set actor = 'x' where seq = 3`, 3],
  'a changed detail': [`update pawl.audit set detail = detail || '{"n": 9}' where seq = 4`, 4],
  'a changed time': [`update pawl.audit set at = at + interval '1 ms' where seq = 2`, 2],
  'a missing entry': ['delete from pawl.audit where seq = 3', 3],
  'a missing first entry': ['delete from pawl.audit where seq = 1', 1],
  'two entries that changed places': [
    'update pawl.audit set seq = case seq when 2 then 103 else 102 end where seq in (2, 3); update pawl.audit set seq = seq - 100 where seq > 100',
    2,
  ],
  'an entry that was put in': [
    `insert into pawl.audit (at, actor, via, action, subject, detail, seq, hash) values ('2030-01-01', 'x', 'x', 'denied', 'x', '{}', 6, '\\x00')`,
    6,
  ],
} as const

it('whoever gets past the database is found out', async () => {
  const { audit, database } = await makeAudit(0)
  for (const [name, [statement, seq]] of Object.entries(tampering)) {
    for (let n = 1; n <= 5; n++) await audit.record(caller, 'task.cancel', `t_${n}`, { n })
    expect(await audit.seal(), name).toBe(5)
    await database.pool.query('alter table pawl.audit disable trigger user')
    await database.pool.query(statement)
    expect(await audit.verify(), name).toMatchObject({ isWhole: false, firstBad: { seq } })
    await database.pool.query('truncate pawl.audit')
    await database.pool.query('alter table pawl.audit enable trigger user')
  }
})

it('many processes that write and seal at once make one chain without a gap', async () => {
  const { audit, db, log } = await makeAudit(0)
  const others = Array.from({ length: 3 }, () => createAudit({ db, log, clock: systemClock }))
  await Promise.all(
    others.map(async (other, which) => {
      for (let n = 0; n < 40; n++) {
        await other.record({ by: `p${which}` }, 'task.create', `t_${n}`)
        if (n % 10 === which) await other.seal({ wait: n % 20 === which })
      }
    }),
  )
  expect(await audit.verify()).toMatchObject({ isWhole: true, entries: 120 })
})

it('more entries than are sealed at once are sealed all the same', async () => {
  const { audit, database } = await makeAudit(0)
  await database.pool.query(
    `insert into pawl.audit (at, actor, via, action, subject, detail) select '2030-01-01', 'x', 'x', 'task.create', n::text, '{}' from generate_series(1, 2500) n`,
  )
  expect(await audit.seal()).toBe(2_500)
  expect(await audit.verify()).toMatchObject({ isWhole: true, entries: 2_500 })
})

it('an entry is there only if its act is', async () => {
  const { audit, db } = await makeAudit(0)
  const undone = db.transaction().execute(async (tx) => {
    await insertAudit(tx, audit.entry(caller, 'user.create', 'x'))
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await audit.verify()).toMatchObject({ entries: 0, head: null })
})

it('no secret gets into an entry', async () => {
  const { db, log } = await makeAudit(0)
  const redactor = createRedactor()
  redactor.add('key', 'hunter2-hunter2')
  const audit = createAudit({ db, log, clock: systemClock, redact: redactor.value })
  await audit.record(caller, 'denied', 'x', { path: '/x/hunter2-hunter2' })
  expect((await audit.list({ limit: 1 })).items[0]!.detail).toEqual({ path: '/x/[redacted:key]' })
})

it('equal values have one text, whatever the order of their keys', () => {
  expect(canonicalJson({ b: 1, a: [{ d: undefined, c: null }, 'x'] })).toBe('{"a":[{"c":null},"x"],"b":1}')
  expect(canonicalJson({ a: [{ c: null }, 'x'], b: 1 })).toBe(canonicalJson({ b: 1, a: [{ c: null }, 'x'] }))
})
