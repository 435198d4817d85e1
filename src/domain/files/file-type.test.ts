import { expect, test } from 'vitest'
import { fileTypeOf } from './file-type.ts'

test('an ending that every object has as a name is no type', () => {
  expect(fileTypeOf('notes.constructor', Buffer.from('words'))).toBe('text/plain')
})
