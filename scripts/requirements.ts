import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Report, testsNotPassed } from '../test/requirements/evidence.ts'
import type { Bringer, Requirement } from '../test/requirements/requirement.ts'
import { requirements } from '../test/requirements.ts'

const usage = `npm run requirements                  counts, and what is still open
npm run requirements -- --json        the same for programs, every id included
npm run requirements -- --ran FILE    fails unless every named test passed in this vitest JSON report`

const root = join(import.meta.dirname, '..')
const manifest: Readonly<Record<string, Requirement>> = requirements

function counts() {
  const all = Object.values(manifest)
  const open: Record<string, number> = {}
  for (const { open: bringer } of all) if (bringer !== undefined) open[nameOf(bringer)] = (open[nameOf(bringer)] ?? 0) + 1
  return {
    total: all.length,
    shown: all.filter(({ shown }) => shown).length,
    open: Object.fromEntries(Object.entries(open).sort(([a], [b]) => a.localeCompare(b))),
    notOurs: all.filter(({ notOurs }) => notOurs).length,
  }
}

const nameOf = (bringer: Bringer) => `issue ${bringer}`

function print() {
  const { total, shown, open, notOurs } = counts()
  for (const bringer of Object.keys(open)) {
    console.log(`${bringer}: ${open[bringer]} open`)
    for (const [id, one] of Object.entries(manifest)) {
      if (one.open !== undefined && nameOf(one.open) === bringer) console.log(`  ${id.padEnd(6)} ${one.means}`)
    }
    console.log()
  }
  const stillOpen = Object.values(open).reduce((sum, count) => sum + count, 0)
  console.log(`${total} requirements: ${shown} shown, ${stillOpen} open, ${notOurs} not ours`)
}

function checkRan(file: string) {
  const missing = testsNotPassed(manifest, readReport(file), root)
  for (const line of missing) console.error(line)
  if (missing.length > 0) process.exitCode = 1
  else console.log(`requirements: ${counts().shown} of ${counts().total} shown, every test they name passed`)
}

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    console.error(`The test report ${file} cannot be read; run "npm test" first.`, cause instanceof Error ? cause.message : cause)
    process.exit(2)
  }
}

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, ran: { type: 'string' }, help: { type: 'boolean' } },
})
if (values.help) console.log(usage)
else if (values.ran !== undefined) checkRan(values.ran)
else if (values.json) console.log(JSON.stringify({ ...counts(), requirements }, null, 2))
else print()
