import { expect, test } from 'vitest'
import { newerThanTried, numbersOf } from './tried-versions.ts'

const tried = { from: '1.2.0', to: '1.10.3' }

test.each(['1.10.4', '1.11.0', '2.0.0', 'tool 1.10.3.1 (build 5)', 'v2.0'])(
  '%s is newer than 1.10.3, and is said to be',
  (version) => {
    expect(newerThanTried('Tool', tried, version)).toBe(
      `Tool ${numbersOf(version)?.join('.')} is newer than 1.10.3, the newest that Pawl was tried with; it is used all the same.`,
    )
  },
)

test.each(['1.10.3', '1.9.9', '1.10', '0.1', 'unknown', '', undefined])('of %s nothing is said', (version) => {
  expect(newerThanTried('Tool', tried, version)).toBeUndefined()
})

test('of what was never tried nothing is said either: that it is untried is shown elsewhere', () => {
  expect(newerThanTried('Tool', undefined, '9.9.9')).toBeUndefined()
})
