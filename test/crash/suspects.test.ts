import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pawl } from '../e2e/pawl.ts'
import { eventsOf, findViolations } from './check.ts'
import { CrashHome } from './home.ts'
import { type Acknowledged, create, marksOf, play } from './scenario.ts'
import { until } from './wait.ts'

const home = new CrashHome()
beforeAll(() => home.start())
afterAll(() => home.close())

const view = ({ id }: Acknowledged) => home.ask((client) => client.getTask(id))

test('an agent that kills its daemon each time is held for a person, and all that ran beside it completes', {
  timeout: 120_000,
}, async () => {
  const tag = 'killer'
  const killer = await create(home, { kind: 'killer', tag })
  const others = [
    await create(home, { kind: 'stall-once', tag: `${tag}-1` }),
    await create(home, { kind: 'stall-once', tag: `${tag}-2` }),
    await create(home, { kind: 'stall-once', tag: `${tag}-3`, walled: true }),
  ]
  const tasks = [killer, ...others]
  const workspaces = await Promise.all(tasks.map(view))
  await until('all agents work', 40_000, () => workspaces.every((task) => marksOf(task).length > 0))
  writeFileSync(join(workspaces[0]!.workspace, 'go'), '')
  await until('all have come to rest', 90_000, async () =>
    (await Promise.all(tasks.map(view))).every(({ state }) => state === 'completed' || state === 'blocked'),
  )
  const seen = await view(killer)
  expect(seen).toMatchObject({ state: 'blocked', reason: { kind: 'worker_lost' } })
  expect(seen.suspect).toBeUndefined()
  expect(seen.reason!.detail).toMatch(
    new RegExp(
      `^The worker died 2 times while only this task ran, the last time on .+ after runs of \\d+ s and \\d+ s\\. .*"pawl retry ${killer.id}"`,
    ),
  )
  expect(seen.runs.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'lost'])
  expect(home.starts).toBe(4)
  for (const task of others) expect(await findViolations(home, [task], task.body.tags![0]!)).toEqual([])

  const neighbours = await Promise.all(others.map(view))
  expect(neighbours.map(({ runs }) => runs.map(({ outcome }) => outcome))).toEqual(Array(3).fill(['lost', 'succeeded']))
  const begins = marksOf(seen).map(({ at }) => at)
  expect(begins).toHaveLength(3)
  // The killer lives for a second after it has begun; from its second run on nobody else is at work then.
  const marks = neighbours.flatMap(marksOf).map(({ at }) => at)
  for (const begin of begins.slice(1)) expect(marks.filter((at) => at >= begin && at <= begin + 1)).toEqual([])

  const shown = await pawl(home.dir, ['show', killer.id])
  expect(shown.stdout).toContain('The worker died 2 times while only this task ran')
  expect(shown.stderr).toContain('Blocked: waits for somebody: its worker died twice while it ran alone')
  expect(shown.stderr).toContain(`"pawl cancel ${killer.id}" ends it.`)
  const suspect = { since: seen.updatedAt, worker: 'w_1', host: 'mars', lastedMs: 45_000, deaths: 2, lostAlone: [45_000] }
  await home.query(`update pawl.tasks set suspect = '${JSON.stringify(suspect)}' where id = '${killer.id}'`)
  expect((await pawl(home.dir, ['show', killer.id])).stdout).toContain(
    'suspect    its worker died while its program ran; for the first 90 s of its next run nothing else starts (on mars, and once more while only this task ran)',
  )
  await home.ask((client) => client.cancelTask(killer.id))
  const ended = await view(killer)
  expect([ended.state, ended.suspect]).toEqual(['cancelled', undefined])
})

test('a task whose daemon is killed again and again before its program starts is no suspect, and completes', {
  timeout: 120_000,
}, async () => {
  const tag = 'unstarted'
  const point = { name: 'killunit.record.before', victim: 'daemon', skip: 0 } as const
  home.nextStarts.push(...Array(5).fill(point))
  await home.arm(point)
  const made = await play(home, { kind: 'plain', tag })
  expect(await findViolations(home, [made], tag)).toEqual([])
  expect((await view(made)).runs.map(({ outcome }) => outcome)).toEqual([...Array(6).fill('lost'), 'succeeded'])
  const requeued = (await eventsOf(home, made.id)).filter(({ type }) => type === 'task.requeued')
  expect(requeued.map(({ data }) => data)).toEqual(Array(6).fill({ why: 'lost' }))
})
