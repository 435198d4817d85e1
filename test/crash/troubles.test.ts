import { afterAll, describe, test } from 'vitest'
import { Homes } from './pool.ts'
import { runTrouble, troubleCells } from './troubles.ts'

/** A sample, with short stalls. All of them: npm run show:crash-matrix */
const sample = ['event.batch.before/stall', 'outcome.record/silence', 'claim.after/slow'].map((name) => {
  const cell = troubleCells.find((one) => one.name === name)!
  return { ...cell, seconds: Math.min(cell.seconds, 4) }
})

const [homes, networked] = [new Homes({ count: 2 }), new Homes({ count: 1, behindProxy: true })]
afterAll(() => Promise.all([homes.close(), networked.close()]))

describe.concurrent('while nothing answers nothing is lost, nothing runs twice, and no run pays for it', {
  timeout: 120_000,
}, () => {
  test.for(sample)('$name', async (cell, { expect }) => {
    const wrong = await (cell.trouble === 'silence' ? networked : homes).use((home) => runTrouble(cell, home))
    expect(wrong, `FP=${cell.name} (again: npm run show:crash-matrix -- --cell ${cell.name})`).toEqual([])
  })
})
