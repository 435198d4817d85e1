import { expect, it } from 'vitest'
import { createRedactor } from '../redact/redactor.ts'
import { createLog, redactedLog } from './log.ts'

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

it.each(['json', 'text'] as const)('no part of a line says a secret: %s', (format) => {
  const lines: string[] = []
  const redactor = createRedactor()
  redactor.add('KEY', 'quoted "secret"')
  const log = redactedLog(createLog({ level: 'info', format, now: () => 0, write: (line) => lines.push(line) }), redactor.value)
  log.with({ bound: 'a quoted "secret"' }).warn('quoted "secret" is said', { error: { detail: ['quoted "secret"'] } })
  expect(lines.join()).not.toContain('secret')
  expect(lines.join().match(/\[redacted:KEY\]/g)).toHaveLength(3)
})
