/** The whole test run: form, types, tests, the requirement manifest. Ends with one plain line that counts. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const report = resolve(root, '.test-results/report.json')
mkdirSync(resolve(root, '.test-results'), { recursive: true })
rmSync(report, { force: true })

const bin = (name: string) => resolve(root, 'node_modules/.bin', name)
const failures: string[] = []
const step = (name: string, file: string, args: readonly string[]) => {
  console.error(`\n> ${name}`)
  if (spawnSync(file, args, { cwd: root, stdio: 'inherit' }).status !== 0) failures.push(name)
}

step('form', bin('biome'), ['check', '.'])
step('types', bin('tsc'), [])
step('tests', process.execPath, [
  bin('vitest'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
])
if (process.argv.length === 2) step('requirements', process.execPath, ['scripts/requirements.ts', '--ran', report])

const counts = readCounts()
for (const name of failures) console.error(`failed: ${name}`)
for (const name of counts.skipped) console.error(`skipped: ${name}`)
const failed = counts.failed + failures.filter((name) => name !== 'tests' || counts.failed === 0).length
console.log(`${counts.passed} passed, ${failed} failed${counts.skipped.length > 0 ? `, ${counts.skipped.length} skipped` : ''}`)
process.exit(failed > 0 ? 1 : 0)

function readCounts(): { passed: number; failed: number; skipped: string[] } {
  try {
    const parsed = JSON.parse(readFileSync(report, 'utf8')) as {
      numPassedTests: number
      numFailedTests: number
      testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[]
    }
    const skipped = parsed.testResults.flatMap((file) =>
      file.assertionResults.filter((test) => !['passed', 'failed'].includes(test.status)).map((test) => test.fullName),
    )
    return { passed: parsed.numPassedTests, failed: parsed.numFailedTests, skipped }
  } catch {
    // Vitest did not get as far as a report: the step has failed and says why above.
    return { passed: 0, failed: 0, skipped: [] }
  }
}
