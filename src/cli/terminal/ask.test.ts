import { expect, test } from 'vitest'
import { chosen } from './ask.ts'

const question = { options: ['the kinds of files', 'the largest files'], multiSelect: false }

test('a number names an option, words are the answer as they are', () => {
  expect(chosen(question, '2')).toEqual({ options: [2] })
  expect(chosen(question, 'neither')).toEqual({ answer: 'neither' })
  expect(chosen(question, '8080')).toEqual({ answer: '8080' })
  expect(chosen({ options: [], multiSelect: false }, '7')).toEqual({ answer: '7' })
  expect(chosen({ options: ['80', '8'], multiSelect: false }, '80')).toEqual({ answer: '80' })
})

test('several numbers name several options where several may be chosen', () => {
  expect(chosen({ ...question, multiSelect: true }, '1, 2')).toEqual({ options: [1, 2] })
  expect(chosen({ ...question, multiSelect: true }, '2 1')).toEqual({ options: [2, 1] })
  expect(chosen(question, '1, 2')).toEqual({ answer: '1, 2' })
})

test.each(['0', '3', '7'])('option %s, which is not there, is refused with the list', (typed) => {
  expect(() => chosen(question, typed)).toThrow(
    `There is no option ${typed}; choose one, or answer in words:\n  1. the kinds of files\n  2. the largest files`,
  )
})
