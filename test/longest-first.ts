import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = resolve(import.meta.dirname, '..')
/** How many seconds files took that took long, as scripts/durations.ts recorded them. */
const recorded = JSON.parse(readFileSync(resolve(import.meta.dirname, 'durations.json'), 'utf8')) as Record<string, number>

/** Files that take long, the longest first: one of them begun at the end would be waited for by everybody. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => secondsOf(b) - secondsOf(a))
  }
}

const secondsOf = ({ moduleId }: TestSpecification) => recorded[relative(root, moduleId)] ?? 0
