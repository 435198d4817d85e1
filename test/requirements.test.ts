import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contractCallers, type Report, testsNotPassed, testsNotWritten, titlesIn } from './requirements/evidence.ts'
import type { Requirement, TestName } from './requirements/requirement.ts'
import { requirements } from './requirements.ts'

const root = join(import.meta.dirname, '..')
const manifest: Readonly<Record<string, Requirement>> = requirements

/** How many of each there are; they are numbered from 1 without a gap. */
const groups = {
  S0: 48,
  W0: 24,
  S1: 21,
  W1: 15,
  S2: 53,
  W2: 20,
  S3: 16,
  W3: 9,
  S4: 16,
  W4: 13,
  B0: 17,
  B2: 15,
  B3: 4,
  B4: 8,
  C: 23,
  H: 15,
}
const expectedIds = Object.entries(groups).flatMap(([group, count]) =>
  Array.from({ length: count }, (_, i) => `${group}-${i + 1}`),
)

describe('the requirement manifest', () => {
  it('lists every requirement and no other', () => {
    expect(Object.keys(manifest).sort()).toEqual(expectedIds.sort())
  })

  it('lists no requirement twice', () => {
    const folder = join(import.meta.dirname, 'requirements')
    const ids = readdirSync(folder).flatMap(
      (file) => readFileSync(join(folder, file), 'utf8').match(/(?<=^ *')[SWBCH]\d?-\d+(?=':)/gm) ?? [],
    )
    expect(ids.length).toBeGreaterThanOrEqual(expectedIds.length)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })

  it("says each in one line that is nobody else's", () => {
    const lines = Object.entries(manifest).map(([id, { means }]) => ({ id, means }))
    expect(lines.filter(({ means }) => means.length < 15 || means.length > 160 || means.includes('\n'))).toEqual([])
    expect(lines.filter(({ means }, at) => lines.findIndex((other) => other.means === means) !== at)).toEqual([])
  })

  it('leaves out only what one of its own rulings leaves out', () => {
    const cited = Object.values(manifest).flatMap(({ notOurs }) => notOurs?.split(':')[0] ?? [])
    expect(cited.filter((ruling) => !(ruling in manifest))).toEqual([])
  })

  it('names only tests that are written', () => {
    expect(testsNotWritten(manifest, root)).toEqual([])
  })
})

describe('the evidence for a requirement', () => {
  let project: string
  let report: Report

  const shownBy = (...shown: [TestName, ...TestName[]]) => ({ 'S0-1': { means: 'A made-up requirement.', shown } })

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), 'pawl-requirements-'))
    const write = (file: string, ...lines: string[]) => writeFileSync(join(project, file), lines.join('\n'))
    mkdirSync(join(project, 'test/contracts'), { recursive: true })
    write(
      'test/contracts/pet.ts',
      'export const food = 3',
      'export const petContract = ({ stubborn = false } = {}) => {',
      "  it('is fed', () => {})",
      "  it('comes when called', () => { if (stubborn) throw new Error('no') })",
      '}',
    )
    write('test/dog.test.ts', "import { petContract } from './contracts/pet.ts'", 'petContract()')
    write('test/hen.test.ts', "import { food } from './contracts/pet.ts'", "it('lays eggs', () => expect(food).toBe(3))")
    write(
      'test/cat.test.ts',
      "import { petContract } from './contracts/pet.ts'",
      "describe('a cat', () => {",
      '  petContract({ stubborn: true })',
      "  it('purrs (loudly)', () => {})",
      "  it.skip('barks', () => {})",
      "  it('swims', () => { throw new Error('no') })",
      "  it.each([['mice'], ['fish']])(",
      "    'eats %s',",
      '    () => {},',
      '  )',
      "  it.each([['milk'], ['water']])('drinks %s', (what) => expect(what).toBe('milk'))",
      "  it.each([])('%s', () => {})",
      "  for (const place of ['sofa', 'box']) it(`sleeps on the ${place}`, () => {})",
      "  for (const room of ['hall', 'attic']) it.skipIf(room === 'attic')(`hides in the ${room}`, () => {})",
      '})',
    )

    const out = join(project, 'report.json')
    const options = ['--root', project, '--globals', '--reporter=json', `--outputFile=${out}`]
    const run = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...options])
    expect(run.status).toBe(1)
    report = JSON.parse(readFileSync(out, 'utf8'))
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it('is looked for in the source, templates, tables and contract suites included', () => {
    const written = shownBy(
      'test/cat.test.ts > purrs (loudly)',
      'test/cat.test.ts > eats %s',
      'test/cat.test.ts > sleeps on the ${place}',
      'test/contracts/pet.ts > comes when called',
    )
    expect(testsNotWritten(written, project)).toEqual([])

    const unwritten = shownBy('test/cat.test.ts > purrs', 'test/cat.test.ts > barks', 'test/dog.test.ts > barks')
    expect(testsNotWritten(unwritten, project)).toEqual([
      'S0-1: test/cat.test.ts has no test "purrs".',
      'S0-1: test/cat.test.ts has no test "barks".',
      'S0-1: test/dog.test.ts has no test "barks".',
    ])
  })

  it('is read from titles in any quotes', () => {
    const source = `it("doesn't stop", …); test('says "no"', …); it(\`ends\`, …); it('isn\\'t', …); visit('x'); it.todo('later')`
    expect(titlesIn(source)).toEqual(["doesn't stop", 'says "no"', 'ends', "isn't"])
  })

  it('counts only if the test passed in the run', () => {
    const passed = shownBy(
      'test/cat.test.ts > purrs (loudly)',
      'test/cat.test.ts > eats %s',
      'test/cat.test.ts > sleeps on the ${place}',
      'test/contracts/pet.ts > is fed',
    )
    expect(testsNotPassed(passed, report, project)).toEqual([])

    const notPassed = shownBy('test/cat.test.ts > swims', 'test/cat.test.ts > barks', 'test/dog.test.ts > purrs (loudly)')
    expect(testsNotPassed(notPassed, report, project)).toEqual([
      'S0-1: "swims" of test/cat.test.ts did not pass.',
      'S0-1: "barks" of test/cat.test.ts did not pass.',
      'S0-1: "purrs (loudly)" of test/dog.test.ts did not run.',
    ])
  })

  it('is every case of a table or template, and at least one', () => {
    const cases = shownBy('test/cat.test.ts > drinks %s', 'test/cat.test.ts > hides in the ${room}')
    expect(testsNotPassed(cases, report, project)).toEqual([
      'S0-1: "drinks water" of test/cat.test.ts did not pass.',
      'S0-1: "hides in the attic" of test/cat.test.ts did not pass.',
    ])

    const purrsOnly = {
      testResults: report.testResults.map((file) => ({ ...file, assertionResults: onlyTitled(file, 'purrs (loudly)') })),
    }
    expect(testsNotPassed(shownBy('test/cat.test.ts > %s'), purrsOnly, project)).toEqual([
      'S0-1: "%s" of test/cat.test.ts did not run.',
    ])
  })

  it('is a contract suite with everybody who calls it', () => {
    expect(testsNotPassed(shownBy('test/contracts/pet.ts > comes when called'), report, project)).toEqual([
      'S0-1: "comes when called" of test/cat.test.ts did not pass.',
    ])

    const fed = shownBy('test/contracts/pet.ts > is fed')
    const withoutDog = { testResults: report.testResults.filter(({ name }) => !name.endsWith('dog.test.ts')) }
    expect(testsNotPassed(fed, withoutDog, project)).toEqual(['S0-1: test/dog.test.ts did not run test/contracts/pet.ts.'])

    const catAtRest = {
      testResults: report.testResults.map((file) => ({
        ...file,
        assertionResults: file.name.endsWith('cat.test.ts') ? onlyTitled(file, 'purrs (loudly)') : file.assertionResults,
      })),
    }
    expect(testsNotPassed(fed, catAtRest, project)).toEqual(['S0-1: test/cat.test.ts did not run test/contracts/pet.ts.'])
    expect(testsNotPassed(fed, { testResults: [] }, project)).toContain('S0-1: "is fed" of test/contracts/pet.ts did not run.')
  })

  it('knows every file of this repository that calls a contract suite', () => {
    const calling = globSync('{src,test}/**/*.test.ts', { cwd: root }).filter((file) =>
      /^\s*\w+Contract\(/m.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(calling.length).toBeGreaterThan(10)
    expect([...contractCallers(root).values()].flat().toSorted()).toEqual(calling.toSorted())
  })
})

const onlyTitled = ({ assertionResults }: Report['testResults'][number], wanted: string) =>
  assertionResults.filter(({ title }) => title === wanted)

describe('npm run requirements', () => {
  const script = join(root, 'scripts/requirements.ts')

  it('counts every requirement exactly once', () => {
    const { total, shown, open, notOurs } = JSON.parse(execFileSync(process.execPath, [script, '--json'], { encoding: 'utf8' }))
    const stillOpen = Object.values<number>(open).reduce((sum, count) => sum + count, 0)
    expect({ total, counted: shown + stillOpen + notOurs }).toEqual({ total: expectedIds.length, counted: expectedIds.length })
  })

  it('refuses a report that is not there', () => {
    const { status, stderr } = spawnSync(process.execPath, [script, '--ran', 'no-such-report.json'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('no-such-report.json cannot be read') })
  })
})
