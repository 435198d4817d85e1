import { expect, it } from 'vitest'
import { jsonText } from './events.ts'

const stored = (value: unknown) => JSON.parse(jsonText(value))

it('text that only looks like an escape is stored as it was typed', () => {
  for (const typed of ['\\u0000', '\\ud83d', 'C:\\users\\ud800\\u0000', '\\\\u0000', '"\\u0000"', '🦀 \\udead'])
    expect(stored({ text: typed, list: [typed] })).toEqual({ text: typed, list: [typed] })
})

it('NUL and half a surrogate pair become the replacement sign, in names too, and whole pairs stay', () => {
  const value = { 'a\0': 'x\0y', deep: [{ text: '\ud83d and \udead and 🦀' }] }
  expect(stored(value)).toEqual({ 'a\ufffd': 'x\ufffdy', deep: [{ text: '\ufffd and \ufffd and 🦀' }] })
})

it('dates and absent fields are written as JSON has them', () => {
  expect(stored({ at: new Date(0), none: undefined, dirty: '\0' })).toEqual({ at: '1970-01-01T00:00:00.000Z', dirty: '\ufffd' })
})
