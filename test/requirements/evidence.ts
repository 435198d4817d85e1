import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Requirement, TestName } from './requirement.ts'

type Manifest = Readonly<Record<string, Requirement>>

/** The named tests whose file is not there or has no test of that title. Reads the source: nothing needs to run. */
export function testsNotWritten(manifest: Manifest, root: string): string[] {
  const titles = new Map<string, Set<string>>()
  const titlesOf = (file: string) => {
    const known =
      titles.get(file) ?? new Set(existsSync(join(root, file)) ? titlesIn(readFileSync(join(root, file), 'utf8')) : [])
    titles.set(file, known)
    return known
  }
  return namedTests(manifest).flatMap(({ id, file, title }) =>
    titlesOf(file).has(title) ? [] : [`${id}: ${file} has no test "${title}".`],
  )
}

/** The part of vitest's JSON report that is read here. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

/** The named tests that are not among the passed ones of a whole run. */
export function testsNotPassed(manifest: Manifest, report: Report, root: string): string[] {
  const passed = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'passed').map(({ title }) => ({ file: relative(root, name), title })),
  )
  return namedTests(manifest).flatMap(({ id, file, title }) => {
    // A contract suite has no file of its own in the report: its tests stand under whoever called it.
    const anyFile = file.startsWith('test/contracts/')
    const pattern = patternOf(title)
    return passed.some((test) => (anyFile || test.file === file) && (test.title === title || pattern.test(test.title)))
      ? []
      : [`${id}: "${title}" of ${file} did not pass in this run.`]
  })
}

/** Titles as the source has them: a template keeps its `${…}`, a table its `%s`. Skipped tests and mere plans do not count. */
export function titlesIn(source: string): string[] {
  const call = /\b(?:it|test)((?:\.\w+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?)*)\(\s*(['"`])((?:\\.|(?!\2).)*)\2/gs
  return [...source.matchAll(call)]
    .filter(([, modifiers]) => !/\.(?:skip|todo|fails)\b/.test(modifiers ?? ''))
    .map(([, , , title]) => (title ?? '').replace(/\\(.)/g, '$1'))
}

function namedTests(manifest: Manifest) {
  return Object.entries(manifest).flatMap(([id, { shown }]) => (shown ?? []).map((name) => ({ id, ...split(name) })))
}

function split(name: TestName) {
  const end = name.indexOf('.ts > ') + '.ts'.length
  return { file: name.slice(0, end), title: name.slice(end + ' > '.length) }
}

const filledIn = /\$\{[^}]*\}|%[sdifjoOc#$]|\$[a-zA-Z_][\w.]*/g

/** Matches what a title became when it ran: whatever a template or a table fills in may be anything. */
function patternOf(title: string): RegExp {
  const fixed = title.split(filledIn).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${fixed.join('.+')}$`, 's')
}
