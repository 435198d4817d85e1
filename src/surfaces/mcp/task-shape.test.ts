import { expect, test } from 'vitest'
import { inWords } from './task-shape.ts'

test('the answer of a task that did only a part of its work does not stand alone', () => {
  const task = { id: 't_1', state: 'completed', reason: null, result: { text: 'two files' }, questions: [] }
  expect(inWords(task as never)).toBe('two files')
  const reason = { kind: 'partial', detail: 'The agent says: two of three' }
  expect(inWords({ ...task, reason } as never)).toBe('Task t_1 is completed (partial: The agent says: two of three).\ntwo files')
})
