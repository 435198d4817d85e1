import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Requirement, TestName } from './requirement.ts'

type Manifest = Readonly<Record<string, Requirement>>

/** The named tests whose file is not there or has no test of that title. Reads the source: nothing needs to run. */
export function testsNotWritten(manifest: Manifest, root: string): string[] {
  const titlesOf = titleReader(root)
  return namedTests(manifest).flatMap(({ id, file, title }) =>
    titlesOf(file).includes(title) ? [] : [`${id}: ${file} has no test "${title}".`],
  )
}

/** The part of vitest's JSON report that is read here. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

/**
 * Says which named tests a whole run does not show. A title stands for every case of a table or template, and in a contract suite for every
 * file that calls the suite. All of them must have passed: otherwise one that fails would hide behind another that passes.
 */
export function testsNotPassed(manifest: Manifest, report: Report, root: string): string[] {
  const titlesOf = titleReader(root)
  const callers = contractCallers(root)
  const ran = new Map(report.testResults.map(({ name, assertionResults }) => [relative(root, name), assertionResults]))
  return namedTests(manifest).flatMap(({ id, file, title }) => {
    const isSuite = file.startsWith('test/contracts/')
    const runners = isSuite ? (callers.get(file) ?? []) : [file]
    const tests = runners.flatMap((runner) => (ran.get(runner) ?? []).map((test) => ({ ...test, runner })))
    const titles = titlesOf(file)
    // An adapter without a capability may lack one test of a suite; one that reports none of them has not run the suite.
    const absent = isSuite
      ? runners.filter(
          (runner) => !tests.some((test) => test.runner === runner && titles.some((one) => becomes(one, test.title))),
        )
      : []
    const named = tests.filter((test) => test.title === title || (becomes(title, test.title) && !titles.includes(test.title)))
    return [
      ...absent.map((runner) => `${id}: ${runner} did not run ${file}.`),
      ...(named.length === 0 ? [`${id}: "${title}" of ${file} did not run.`] : []),
      ...named
        .filter(({ status }) => status !== 'passed')
        .map((test) => `${id}: "${test.title}" of ${test.runner} did not pass.`),
    ]
  })
}

/** Finds the test files that call each suite of test/contracts. Its file has helpers too, so the imported name decides. */
export function contractCallers(root: string): ReadonlyMap<string, readonly string[]> {
  const callers = new Map<string, string[]>()
  for (const file of globSync('{src,test}/**/*.test.ts', { cwd: root }).toSorted()) {
    for (const [, suite = ''] of readFileSync(join(root, file), 'utf8').matchAll(contractImport)) {
      const path = join(dirname(file), suite)
      callers.set(path, [...(callers.get(path) ?? []), file])
    }
  }
  return callers
}

const contractImport = /^import \{[^}]*\b\w+Contract\b[^}]*\} from '(\.[^']*\/contracts\/[^']+)'/gm

/** Titles as the source has them: a template keeps its `${…}`, a table its `%s`. Skipped tests and mere plans do not count. */
export function titlesIn(source: string): string[] {
  const call = /\b(?:it|test)((?:\.\w+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?)*)\(\s*(['"`])((?:\\.|(?!\2).)*)\2/gs
  return [...source.matchAll(call)]
    .filter(([, modifiers]) => !/\.(?:skip|todo|fails)\b/.test(modifiers ?? ''))
    .map(([, , , title]) => (title ?? '').replace(/\\(.)/g, '$1'))
}

function titleReader(root: string): (file: string) => readonly string[] {
  const known = new Map<string, string[]>()
  return (file) => {
    const titles = known.get(file) ?? (existsSync(join(root, file)) ? titlesIn(readFileSync(join(root, file), 'utf8')) : [])
    known.set(file, titles)
    return titles
  }
}

function namedTests(manifest: Manifest) {
  return Object.entries(manifest).flatMap(([id, { shown }]) => (shown ?? []).map((name) => ({ id, ...split(name) })))
}

function split(name: TestName) {
  const end = name.indexOf('.ts > ') + '.ts'.length
  return { file: name.slice(0, end), title: name.slice(end + ' > '.length) }
}

const filledIn = /\$\{[^}]*\}|%[sdifjoOc#$]|\$[a-zA-Z_][\w.]*/g

/** Whether a title of the source can be this one of a report: whatever a template or a table fills in may be anything. */
function becomes(title: string, reported: string): boolean {
  const fixed = title.split(filledIn).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${fixed.join('.+')}$`, 's').test(reported)
}
