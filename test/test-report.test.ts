import { expect, it } from 'vitest'
import { countTests, durationsOf, filesToTryAgain, mergeSecondTry, type TestReport } from '../scripts/test-report.ts'

const file = (name: string, tests: Record<string, string>, message = 'expected 1 to be 2', broken = false) => ({
  name: `/repo/${name}`,
  status: broken || Object.values(tests).includes('failed') ? 'failed' : 'passed',
  message: '',
  startTime: 1_000,
  endTime: 1_000 + 10_000 * Object.keys(tests).length,
  assertionResults: Object.entries(tests).map(([fullName, status]) => ({
    fullName,
    status,
    failureMessages: status === 'failed' ? [message] : [],
  })),
})
const report = (...testResults: ReturnType<typeof file>[]): TestReport => ({ testResults })

it.each([
  ['a test that drives programs', report(file('test/e2e/a.test.ts', { a: 'failed', b: 'passed' })), ['/repo/test/e2e/a.test.ts']],
  ['a test of our own code', report(file('src/a.test.ts', { a: 'failed' })), ['/repo/src/a.test.ts']],
  [
    'one that may and one that may not',
    report(file('src/a.test.ts', { a: 'failed' }), file('test/crash/a.test.ts', { a: 'failed' })),
    [],
  ],
  ['a counterexample', report(file('test/engine/a.test.ts', { a: 'failed' }, 'Error: Property failed after 3 tests')), []],
  ['what a crash lost', report(file('test/crash/a.test.ts', { a: 'failed' })), []],
  [
    'a crash test that waited for too long',
    report(file('test/crash/a.test.ts', { a: 'failed', b: 'passed' }, 'Error: not within 20 s: the daemon is back')),
    ['/repo/test/crash/a.test.ts'],
  ],
  ['a file that cannot be read', report(file('test/e2e/a.test.ts', {}, '', true)), []],
  [
    'seven',
    report(file('test/e2e/a.test.ts', Object.fromEntries([...'abcdefg'].map((name): [string, string] => [name, 'failed'])))),
    [],
  ],
  ['nothing', report(file('test/e2e/a.test.ts', { a: 'passed' })), []],
])('of the failed tests, %s', (_, failed, again) => {
  expect(filesToTryAgain(failed, '/repo')).toEqual(again)
})

it('counts what passes at the second try as passed and names it; what fails again has failed', () => {
  const first = report(file('test/e2e/a.test.ts', { a: 'failed', b: 'passed' }), file('test/e2e/c.test.ts', { a: 'failed' }))
  const second = report(file('test/e2e/a.test.ts', { a: 'passed', b: 'passed' }), file('test/e2e/c.test.ts', { a: 'failed' }))
  expect(mergeSecondTry(first, second)).toEqual(['a'])
  expect(countTests(first)).toEqual({ passed: 2, failed: 1, skipped: [] })
  expect(first.testResults.map(({ status }) => status)).toEqual(['passed', 'failed'])
})

it('counts a file whose tests could not be collected as a failure', () => {
  expect(countTests(report(file('src/a.test.ts', {}, '', true))).failed).toBe(1)
})

it('what took long is recorded by the name of its file, the longest first', () => {
  const ran = report(file('a.test.ts', { a: 'passed' }), file('b.test.ts', {}), file('c.test.ts', { a: 'passed', b: 'failed' }))
  expect(Object.entries(durationsOf(ran, (name) => name.slice('/repo/'.length)))).toEqual([
    ['c.test.ts', 20],
    ['a.test.ts', 10],
  ])
})
