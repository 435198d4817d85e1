/**
 * Crash tests by hand. A failure prints how to see it again.
 *   node test/crash/run.ts                     all cells of the matrix
 *   node test/crash/run.ts --cell NAME         one cell
 *   node test/crash/run.ts --seeds 300         seeded random runs
 *   node test/crash/run.ts --seed 17           one of them
 */
import { parseArgs } from 'node:util'
import { cells, runCell } from './cells.ts'
import { CrashHome } from './home.ts'
import { runSeed } from './seeds.ts'

const { values } = parseArgs({
  options: { cell: { type: 'string' }, seeds: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string', default: '1' }, keep: { type: 'boolean', default: false } },
})

type Job = { readonly name: string; readonly run: (home: CrashHome) => Promise<string[]> }

function jobs(): Job[] {
  if (values.seed !== undefined) return [{ name: `seed ${values.seed}`, run: (home) => runSeed(Number(values.seed), home) }]
  if (values.seeds !== undefined) {
    const from = Number(values.from)
    return Array.from({ length: Number(values.seeds) }, (_, index) => ({ name: `seed ${from + index}`, run: (home) => runSeed(from + index, home) }))
  }
  const wanted = cells.filter((cell) => values.cell === undefined || cell.name.startsWith(values.cell))
  return wanted.map((cell) => ({ name: cell.name, run: (home) => runCell(cell, home) }))
}

const waiting = jobs()
let failed = 0
async function lane(): Promise<void> {
  let home: CrashHome | undefined
  for (let job = waiting.shift(); job; job = waiting.shift()) {
    const since = performance.now()
    let wrong: string[]
    try {
      if (!home) {
        home = new CrashHome()
        await home.start()
      }
      wrong = await job.run(home)
    } catch (error) {
      wrong = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
    }
    const seconds = ((performance.now() - since) / 1000).toFixed(1)
    console.log(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${seconds.padStart(5)} s  ${job.name}`)
    if (wrong.length === 0) continue
    failed++
    console.log(wrong.map((line) => `       ${line}`).join('\n'))
    console.log(`       ${values.keep ? `home ${home?.dir}` : 'again with --keep to look at its home'}`)
    await home?.close({ keep: values.keep })
    home = undefined
  }
  await home?.close()
}
const total = waiting.length
const since = performance.now()
await Promise.all([lane(), lane()])
console.log(`${total - failed} passed, ${failed} failed in ${((performance.now() - since) / 1000).toFixed(0)} s`)
process.exitCode = failed > 0 ? 1 : 0
