import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** What vitest's JSON reporter writes, as far as we read it. */
export interface TestReport {
  readonly testResults: {
    readonly name: string
    status: string
    message: string
    readonly startTime: number
    readonly endTime: number
    readonly assertionResults: { readonly fullName: string; status: string; readonly failureMessages: readonly string[] }[]
  }[]
}

/** Undefined when vitest did not get as far as a report. */
export function readReport(path: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TestReport
  } catch {
    return undefined
  }
}

export function countTests(report: TestReport | undefined): { passed: number; failed: number; skipped: string[] } {
  const files = report?.testResults ?? []
  const tests = files.flatMap((file) => file.assertionResults)
  const unread = files.filter(isBrokenFile).length
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: tests.filter((test) => test.status === 'failed').length + unread,
    skipped: tests.filter((test) => !['passed', 'failed'].includes(test.status)).map((test) => test.fullName),
  }
}

/** The seconds of each file that took at least five, the longest first. */
export function durationsOf(report: TestReport, nameOf: (file: string) => string): Record<string, number> {
  const files = report.testResults.map(
    ({ name, startTime, endTime }) => [nameOf(name), Math.round((endTime - startTime) / 1000)] as const,
  )
  return Object.fromEntries(files.filter(([, seconds]) => seconds >= 5).toSorted(([, a], [, b]) => b - a))
}

/** A file whose tests could not even be collected, or whose hooks failed. */
const isBrokenFile = (file: TestReport['testResults'][number]) =>
  file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')

/**
 * The files whose failed tests may be tried once more, alone; none when there is a failure that a second try would only hide: a counterexample of a property is one,
 * however rarely it is found, and what a crash has lost once is lost. Everything else may depend on what else the machine has to do, and so does a crash test that only
 * waited for too long.
 */
export function filesToTryAgain(report: TestReport | undefined, root: string): string[] {
  const failed = (report?.testResults ?? []).filter((file) => file.status === 'failed')
  const mayTry = failed.every(
    (file) =>
      (!relative(root, file.name).startsWith('test/crash/') || onlyWaited(file)) &&
      !isBrokenFile(file) &&
      !file.assertionResults.some((test) => test.failureMessages.some((message) => message.includes('Property failed after'))),
  )
  const count = failed.reduce((sum, file) => sum + file.assertionResults.filter((test) => test.status === 'failed').length, 0)
  return mayTry && count <= 6 ? failed.map((file) => file.name) : []
}

const onlyWaited = (file: TestReport['testResults'][number]) =>
  file.assertionResults.every((test) => test.failureMessages.every((message) => /^Error: not within [\d.]+ s: /.test(message)))

/** What failed first and passes now counts as passed; answers its names. */
export function mergeSecondTry(report: TestReport, second: TestReport | undefined): string[] {
  const passed = new Set(
    second?.testResults.flatMap((file) =>
      file.assertionResults.filter((test) => test.status === 'passed').map((test) => `${file.name} ${test.fullName}`),
    ),
  )
  const unsteady: string[] = []
  for (const file of report.testResults) {
    if (isBrokenFile(file)) continue
    for (const test of file.assertionResults) {
      if (test.status !== 'failed' || !passed.has(`${file.name} ${test.fullName}`)) continue
      test.status = 'passed'
      unsteady.push(test.fullName)
    }
    if (!file.assertionResults.some((test) => test.status === 'failed')) file.status = 'passed'
  }
  return unsteady
}
