import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

const units = ['src/**/*.test.ts']
const realAgents = ['test/real-agents/**/*.test.ts', 'test/gateway/sdk-*.test.ts']

/** Each file makes what it needs and takes it away again, so many of them may share a process, which loads the sources once. */
const shared = { isolate: false }

export default defineConfig({
  test: {
    pool: 'forks',
    // Most of a test is waiting for programs: with one worker per core half of each core would wait too.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // A file that passes is one line, without what it printed; the slowest are named at the end.
    slowTestThreshold: Number.POSITIVE_INFINITY,
    silent: 'passed-only',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A condition is waited for as long as a loaded machine may need, not the second that is the default.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'pawl',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...units, ...realAgents],
        },
      },
      { extends: true, test: { ...shared, name: 'units', include: units } },
      // Of their own, because only they need the programs: a run of other tests downloads nothing.
      {
        extends: true,
        test: {
          ...shared,
          name: 'real-agents',
          include: realAgents,
          testTimeout: 90_000,
          globalSetup: 'test/real-agents/global-setup.ts',
        },
      },
    ],
  },
})
