import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first: one of them begun at the end would be waited for by everybody. */
const long = [
  'test/crash/matrix.test.ts',
  'test/crash/seeds.test.ts',
  'test/crash/freeze.test.ts',
  'test/real-agents/scenarios-',
  'test/real-agents/warm.test.ts',
  'test/real-agents/gateway.test.ts',
  'test/e2e/run.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

function place({ moduleId }: TestSpecification): number {
  const index = long.findIndex((part) => moduleId.includes(part))
  return index === -1 ? long.length : index
}
