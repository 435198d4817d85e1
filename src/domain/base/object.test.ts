import { expect, it } from 'vitest'
import { asObject, fieldsOf, isObject, isObjectOrArray } from './object.ts'

it('takes neither null nor an array for an object', () => {
  expect([{}, Object.create(null), null, [], 'a', 1, undefined].map(isObject)).toEqual([
    true,
    true,
    ...Array<boolean>(5).fill(false),
  ])
  expect([{}, [], null, undefined].map(isObjectOrArray)).toEqual([true, true, false, false])
})

it('gives what is no object as undefined, or as one without fields', () => {
  const given = { a: 1 }
  expect(asObject(given)).toBe(given)
  expect(fieldsOf(given)).toBe(given)
  expect([asObject([1]), asObject(null)]).toEqual([undefined, undefined])
  expect([fieldsOf([1]), fieldsOf(null)]).toEqual([{}, {}])
})
