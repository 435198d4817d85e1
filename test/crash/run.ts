/**
 * Crash tests by hand. A failure prints how to see it again.
 *   node test/crash/run.ts                     all cells of the matrix, and then all troubles
 *   node test/crash/run.ts --cell NAME         the cells whose names begin so
 *   node test/crash/run.ts --seeds 300         seeded random runs, beginning --from 1
 *   node test/crash/run.ts --seed 17           one of them
 *   node test/crash/run.ts --cell NAME --times 15   again and again, for what fails seldom
 * With --keep the home of a failure stays, with the daemon's log in it.
 */
import { parseArgs } from 'node:util'
import { cells, runCell } from './cells.ts'
import type { CrashHome } from './home.ts'
import { Homes } from './pool.ts'
import { runSeed } from './seeds.ts'
import { runTrouble, troubleCells } from './troubles.ts'

const { values } = parseArgs({
  options: {
    cell: { type: 'string' },
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    times: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
})

interface Job {
  readonly name: string
  /** Its database is reached by a network. */
  readonly isNetworked?: boolean
  readonly run: (home: CrashHome) => Promise<string[]>
}

function jobs(): Job[] {
  const bySeed = (seed: number): Job => ({ name: `seed ${seed}`, run: (home) => runSeed(seed, home) })
  if (values.seed !== undefined) return [bySeed(Number(values.seed))]
  if (values.seeds !== undefined)
    return Array.from({ length: Number(values.seeds) }, (_, index) => bySeed(Number(values.from) + index))
  const isWanted = ({ name }: { name: string }) => values.cell === undefined || name.startsWith(values.cell)
  return [
    ...cells.filter(isWanted).map((cell) => ({ name: cell.name, run: (home: CrashHome) => runCell(cell, home) })),
    ...troubleCells.filter(isWanted).map((cell) => ({
      name: cell.name,
      isNetworked: cell.trouble === 'silence',
      run: (home: CrashHome) => runTrouble(cell, home),
    })),
  ]
}

// So that the homes hear of the end and leave nothing running.
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
const homes = new Homes({ count: 2, keep: values.keep })
const networked = new Homes({ count: 1, keep: values.keep, behindProxy: true })
const all = Array.from({ length: Number(values.times) }, jobs).flat()
let failed = 0
const began = performance.now()
await Promise.all(
  all.map(async (job) => {
    let since = 0
    const wrong = await (job.isNetworked ? networked : homes).use((home) => {
      since = performance.now()
      return job.run(home)
    })
    console.log(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${seconds(since, 1).padStart(5)} s  ${job.name}`)
    if (wrong.length === 0) return
    failed++
    console.log(wrong.join('\n').replace(/^/gm, '       '))
  }),
)
await Promise.all([homes.close(), networked.close()])
console.log(`${all.length - failed} passed, ${failed} failed in ${seconds(began, 0)} s`)
process.exitCode = failed > 0 ? 1 : 0

function seconds(since: number, digits: number): string {
  return ((performance.now() - since) / 1000).toFixed(digits)
}
