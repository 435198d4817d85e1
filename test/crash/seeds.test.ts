import { afterAll, describe, test } from 'vitest'
import { Homes } from './pool.ts'
import { describeSeed, runSeed } from './seeds.ts'

/** A sample. 300 of them: npm run show:crash-seeds */
const seeds = Array.from({ length: 3 }, (_, index) => index + 1)

const homes = new Homes({ count: 2 })
afterAll(() => homes.close())

describe.concurrent('one to three kills at random places lose nothing', { timeout: 240_000 }, () => {
  test.for(seeds)('seed %i', async (seed, { expect }) => {
    const wrong = await homes.use((home) => runSeed(seed, home))
    expect(wrong, describeSeed(seed)).toEqual([])
  })
})
