import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { builtinProfiles } from '../../domain/profile/builtin.ts'
import { createMachineWalls } from './sandbox.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync('/var/tmp/pawl-walls-')
  chmodSync(home, 0o755)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const { guarded, strict } = builtinProfiles
const walls = (believesEarlier: boolean) => createMachineWalls({ home, clock: systemClock, believesEarlier })

it('whoever believes it takes the test that another process passed; whoever does not tries the walls anew', async () => {
  const first = await walls(true).selfTests.forProfile(guarded)
  expect(first).toMatchObject({ passed: true, failure: undefined })
  const believing = walls(true)
  expect(await believing.selfTests.forProfile(guarded)).toEqual(first)
  expect(believing.views()).toMatchObject([{ profile: 'guarded', passed: true, at: new Date(first.at).toISOString() }])
  const anew = await walls(false).selfTests.forProfile(guarded)
  expect(anew.at).toBeGreaterThan(first.at)
  // What is tried anew counts from then on, and says nothing of another profile.
  expect((await walls(true).selfTests.forProfile(guarded)).at).toBe(anew.at)
  expect((await walls(true).selfTests.forProfile(strict)).at).toBeGreaterThan(anew.at)
})

it('what a test left that was killed is removed, and one that is under way is left alone', async () => {
  for (const name of ['left', 'under-way']) mkdirSync(join(home, 'self-test', name, 'outside'), { recursive: true })
  const longAgo = new Date(Date.now() - 600_000)
  utimesSync(join(home, 'self-test/left'), longAgo, longAgo)
  await walls(false).selfTests.assertHolds(guarded)
  expect(readdirSync(join(home, 'self-test'))).toEqual(['under-way'])
})
