import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first: one of them begun at the end would be waited for by everybody. */
const long = [
  'test/real-agents/scenarios-opencode.test.ts',
  'test/real-agents/scenarios-acp-qwen.test.ts',
  'test/real-agents/opencode-adapter.test.ts',
  'test/real-agents/scenarios-gemini.test.ts',
  'test/e2e/run.test.ts',
  'test/terminal/examples.test.ts',
  'test/crash/freeze.test.ts',
  'test/real-agents/scenarios-',
  'test/page/page.test.ts',
  'test/real-agents/',
  'test/e2e/backup.test.ts',
  'test/e2e/package.test.ts',
  'test/e2e/session.test.ts',
  'test/secrets/',
  'test/page/',
  'test/terminal/',
  'test/crash/',
  'test/e2e/',
  'test/engine/weeks/limits.test.ts',
  'test/engine/program-runs.test.ts',
  'test/engine/checks.test.ts',
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
