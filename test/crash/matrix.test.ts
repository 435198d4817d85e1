import { afterAll, describe, test } from 'vitest'
import { cells, runCell } from './cells.ts'
import { Homes } from './pool.ts'

/** A sample over all places and victims. All of them: npm run show:crash-matrix */
const sample = cells.filter((_, index) => index % 20 === 0)

const homes = new Homes({ count: 2 })
afterAll(() => homes.close())

describe.concurrent('after a crash nothing confirmed is lost and nothing runs twice', { timeout: 240_000 }, () => {
  test.for(sample)('$name', async (cell, { expect }) => {
    const wrong = await homes.use((home) => runCell(cell, home))
    expect(wrong, `FP=${cell.name} (again: npm run show:crash-matrix -- --cell ${cell.name})`).toEqual([])
  })
})
