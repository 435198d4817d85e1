/** The whole test run: form, types, tests, the requirement manifest. Ends with one plain line that counts. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { affectedBy, changedSince } from './changed-tests.ts'
import { countTests, filesToTryAgain, mergeSecondTry, readReport } from './test-report.ts'

const root = resolve(import.meta.dirname, '..')
const report = resolve(root, '.test-results/report.json')
mkdirSync(resolve(root, '.test-results'), { recursive: true })
rmSync(report, { force: true })

const bin = (name: string) => resolve(root, 'node_modules/.bin', name)
const failures: string[] = []
// Each test file is a process of its own, and most of its start is compiling the same libraries again.
const env = { NODE_COMPILE_CACHE: resolve(tmpdir(), 'node-compile-cache'), ...process.env }
const step = (name: string, file: string, args: readonly string[]) => {
  console.error(`\n> ${name}`)
  if (spawnSync(file, args, { cwd: root, stdio: 'inherit', env }).status !== 0) failures.push(name)
}

step('form', bin('biome'), ['check', '.'])
step('types', bin('tsc'), [])
step('types of the page', bin('tsc'), ['-p', 'web'])
const tests = (outputFile: string, args: readonly string[]) =>
  step('tests', process.execPath, [
    bin('vitest'),
    ...(args[0] === 'related' ? [] : ['run']),
    '--reporter=default',
    '--reporter=./scripts/progress.ts',
    '--reporter=json',
    `--outputFile.json=${outputFile}`,
    ...args,
  ])
tests(report, testArguments(process.argv.slice(2)))
const unsteady = tryAgain()
if (process.argv.length === 2) step('requirements', process.execPath, ['scripts/requirements.ts', '--ran', report])

const counts = countTests(readReport(report))
for (const name of failures) console.error(`failed: ${name}`)
for (const name of counts.skipped) console.error(`skipped: ${name}`)
for (const name of unsteady) console.error(`unsteady, passed at the second try: ${name}`)
const failed = counts.failed + failures.filter((name) => name !== 'tests' || counts.failed === 0).length
console.log(`${counts.passed} passed, ${failed} failed${counts.skipped.length > 0 ? `, ${counts.skipped.length} skipped` : ''}`)
process.exit(failed > 0 ? 1 : 0)

/** The few that failed beside all others run once more with the machine to themselves; they are named at the end. */
function tryAgain(): string[] {
  const first = readReport(report)
  const files = filesToTryAgain(first, root)
  if (!first || files.length === 0) return []
  failures.splice(failures.indexOf('tests'), 1)
  const second = resolve(root, '.test-results/second-try.json')
  rmSync(second, { force: true })
  tests(second, files)
  const names = mergeSecondTry(first, readReport(second))
  writeFileSync(report, JSON.stringify(first))
  return names
}

/** `--changed [REF]` selects the tests that a change since REF (HEAD if left out) can affect; the rest is vitest's. */
function testArguments(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--changed')
  if (at === -1) return args
  const next = args[at + 1]
  const named = next !== undefined && !next.startsWith('-')
  const ref = named ? next : 'HEAD'
  const others = args.toSpliced(at, named ? 2 : 1)
  const changed = changedSince(ref, root)
  const files = affectedBy(changed)
  console.error(`\n${changed.length} files differ from ${ref}`)
  return files === 'everything' ? others : ['related', '--run', '--passWithNoTests', ...files, ...others]
}
