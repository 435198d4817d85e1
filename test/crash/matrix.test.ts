import { afterAll, describe, test } from 'vitest'
import { cells, runCell } from './cells.ts'
import { Homes } from './pool.ts'

const homes = new Homes({ count: 2 })
afterAll(() => homes.close())

describe.concurrent('after a crash nothing confirmed is lost and nothing runs twice', { timeout: 240_000 }, () => {
  test.for(cells)('$name', async (cell, { expect }) => {
    const wrong = await homes.use((home) => runCell(cell, home))
    expect(wrong, `FP=${cell.name} (again: node test/crash/run.ts --cell ${cell.name})`).toEqual([])
  })
})
