import { expect, it } from 'vitest'
import { createLog } from './log.ts'

const written = (format: 'json' | 'text', fields: Record<string, unknown>) => {
  const lines: string[] = []
  createLog({ level: 'info', format, now: () => 0, write: (line) => lines.push(line) }).info('it\nhappened', fields)
  return lines
}

it('a line is one line, and says nothing of what is not known', () => {
  expect(written('text', { none: undefined, detail: 'a\r\nb\u2028c', count: 0 })).toEqual([
    '1970-01-01T00:00:00.000Z info it\\nhappened detail=a\\r\\nb c count=0',
  ])
  expect(written('json', { none: undefined, detail: 'a\nb' }).map((line) => JSON.parse(line))).toEqual([
    { at: '1970-01-01T00:00:00.000Z', level: 'info', message: 'it\nhappened', detail: 'a\nb' },
  ])
})
