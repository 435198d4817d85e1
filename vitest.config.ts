import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

const realAgents = ['test/real-agents/**/*.test.ts', 'test/gateway/sdk-*.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    // Most of a test is waiting for programs: left to itself, vitest would use one of two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'pawl',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...realAgents],
        },
      },
      // Of their own, because only they need the programs: a run of other tests downloads nothing.
      { extends: true, test: { name: 'real-agents', include: realAgents, globalSetup: 'test/real-agents/global-setup.ts' } },
    ],
  },
})
