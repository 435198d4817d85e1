import { expect, test } from 'vitest'
import type { Activity } from '../../domain/view/activity.ts'
import { activityWords } from './activity.ts'

const now = Date.UTC(2030, 0, 1)
const minute = 60_000

test.each<[Activity['kind'], string | null, number, string]>([
  ['tool', 'Bash', 12 * minute, 'running tool Bash for 12 min'],
  ['tool', 'Bash', 95 * minute, 'running tool Bash for 1 h 35 min'],
  ['check', 'npm test', 3 * minute, 'running check npm test for 3 min'],
  ['model', null, 20_000, 'waiting for the model for 20 s'],
  ['busy', null, 4 * minute, 'no output for 4 min; using CPU or doing I/O'],
  ['silent', null, 4 * minute, 'no output for 4 min'],
  ['working', null, 2_000, 'working'],
  // Clocks of two machines differ.
  ['silent', null, -5_000, 'no output for 0 s'],
])('what a task is doing (%s %s, %d ms) is said as "%s"', (kind, name, ms, words) => {
  expect(activityWords({ kind, name, since: new Date(now - ms).toISOString() }, now)).toBe(words)
})
