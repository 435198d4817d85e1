import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { profileDigest } from '../../src/domain/profile/digest.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import { runView } from '../../src/operations/tasks/views.ts'
import { profileOfRun, recordHeldLimits, recordStart, runsOfTask } from '../../src/store/runs.ts'
import { makeParts } from './store.ts'

const unit = { kind: 'process_group', marker: 'run.1', enforced: false } as const
const walled = { unit, walls: 'none', enforced: false, resumed: false, at: new Date() }

it('what was in force is told for each run, and kept once for all that had the same', async () => {
  const { db, ...parts } = await makeParts()
  const worker = await parts.addWorker()
  const profiles = { mine: { instructions: false }, same: { instructions: false }, other: { rules: { deny: ['Bash'] } } }
  const runs: string[] = []
  for (const name of ['mine', 'same', 'other']) {
    const run = await parts.admit(await parts.addTask(), 1, worker)
    await parts.lease(run, worker)
    expect(await profileOfRun(db, run.id)).toBeUndefined()
    const profile = resolveProfile(name, profiles)
    const record = { ...walled, profile, digest: await profileDigest(profile) }
    expect(await recordStart(db, { ...run, fence: 1 }, record)).toBe(true)
    expect(await recordStart(db, { ...run, fence: 1 }, record)).toBe(true)
    expect(await profileOfRun(db, run.id)).toEqual({ profile, digest: record.digest })
    runs.push(run.id)
  }
  const { rows } = await sql<{ kept: number }>`select count(*) as kept from pawl.profiles`.execute(db)
  expect([runs.length, rows[0]?.kept]).toEqual([3, 2])
})

it('a run shows the name of its profile, and what held its limits', async () => {
  const { db, ...parts } = await makeParts()
  const task = await parts.addTask()
  const worker = await parts.addWorker()
  const run = await parts.admit(task, 1, worker)
  await parts.lease(run, worker)
  const shown = async () => runView((await runsOfTask(db, task.id))[0]!).profile
  expect(await shown()).toBeNull()
  const profile = resolveProfile('strict')
  await recordStart(db, { ...run, fence: 1 }, { ...walled, profile, digest: await profileDigest(profile) })
  await recordHeldLimits(db, run, { processes: 'tree', memory: 'none' })
  expect(await shown()).toBe('strict')
  expect((await runsOfTask(db, task.id))[0]?.limits_held).toEqual({ processes: 'tree', memory: 'none' })
})

it('a run that is no longer ours leaves no word of how it was to start', async () => {
  const { db, ...parts } = await makeParts()
  const task = await parts.addTask()
  const worker = await parts.addWorker()
  const run = await parts.admit(task, 1, worker)
  await parts.lease(run, worker)
  const profile = resolveProfile('strict')
  expect(await recordStart(db, { ...run, fence: 2 }, { ...walled, profile, digest: await profileDigest(profile) })).toBe(false)
  expect((await runsOfTask(db, task.id))[0]).toMatchObject({ kill_unit: null, profile: null })
  const { rows } = await sql<{ kept: number }>`select count(*) as kept from pawl.profiles`.execute(db)
  expect(rows[0]?.kept).toBe(0)
})
