import { describe, expect, test } from 'vitest'
import { careAfter } from './start-agent.ts'

const failed = (category: string) => ({ outcome: 'failed', category })
const crash = failed('crashed')

describe('after runs that failed, a conversation', () => {
  test.each([
    ['is gone on with when there were none', [], 'keep'],
    ['is gone on with after one crash', [crash], 'keep'],
    ['is restored after two crashes in a row', [crash, crash], 'restore'],
    ['is rebuilt after three', [crash, crash, crash], 'rebuild'],
    ['is gone on with when something else came between', [crash, crash, failed('network')], 'keep'],
    ['is gone on with after a crash that followed something else', [crash, failed('network'), crash], 'keep'],
    ['is restored when the program did not find it', [failed('session_missing')], 'restore'],
    ['is gone on with after a run that Pawl itself cut short', [{ outcome: 'interrupted', category: null }], 'keep'],
  ] as const)('%s', (_, earlier, care) => {
    expect(careAfter(earlier)).toBe(care)
  })
})
