import { expect, test } from 'vitest'
import { flagNames, takenFlag } from './flag-names.ts'

test.each([
  ['--policy=x', '--policy'],
  ['--adminPolicy=x', '--admin-policy'],
  ['--no-sandbox', '--sandbox'],
  ['--noSandbox', '--sandbox'],
  ['-dy', '-y'],
  ['-sses_1', '-s'],
  ['--', '--'],
])('%s sets %s', (argument, flag) => {
  expect(flagNames(argument)).toContain(flag)
  expect(takenFlag(['--debug', argument], new Set([flag]))).toBe(argument.split('=')[0])
})

test('a value is no flag, and neither is a flag of another name', () => {
  expect(takenFlag(['yes', '-', '--yes-please', '-d'], new Set(['-y', '--yes']))).toBeUndefined()
})
