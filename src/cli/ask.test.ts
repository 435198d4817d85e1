import { expect, test } from 'vitest'
import { chosen } from './ask.ts'

const question = { options: ['the kinds of files', 'the largest files'] }

test('a number names an option, words are the answer as they are', () => {
  expect(chosen(question, '2')).toBe('the largest files')
  expect(chosen(question, 'neither')).toBe('neither')
  expect(chosen(question, '8080')).toBe('8080')
  expect(chosen({ options: [] }, '7')).toBe('7')
  expect(chosen({ options: ['80', '8'] }, '80')).toBe('80')
})

test.each(['0', '3', '7'])('option %s, which is not there, is refused with the list', (typed) => {
  expect(() => chosen(question, typed)).toThrow(
    `There is no option ${typed}; choose one, or answer in words:\n  1. the kinds of files\n  2. the largest files`,
  )
})
