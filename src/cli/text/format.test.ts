import { expect, test } from 'vitest'
import { formatAge, formatBytes, formatElapsed, formatMoney, formatTaskState, formatTime, formatUntil } from './format.ts'
import { widthOf, wrap } from './plain.ts'
import { table } from './table.ts'

test('times, sizes and money are short and exact enough', () => {
  expect([400, 3000, 12_900, 185_000, 7_800_000].map(formatElapsed)).toEqual(['0.4 s', '3 s', '12 s', '3 m 05 s', '2 h 10 m'])
  expect([-5, 40_000, 300_000, 10_800_000, 172_800_000].map(formatAge)).toEqual(['now', '40 s', '5 m', '3 h', '2 d'])
  expect([0, 0.0123, 1.5].map(formatMoney)).toEqual(['$0.00', '$0.012', '$1.50'])
  expect([12, 2048, 50_000_000].map(formatBytes)).toEqual(['12 B', '2.0 KiB', '48 MiB'])
})

test('a task that is completed and not done, or whose process is gone, is not said to be what it is not', () => {
  const partial = { kind: 'partial', detail: 'The agent says: two of three' }
  expect(formatTaskState({ state: 'completed', reason: null })).toBe('completed')
  expect(formatTaskState({ state: 'completed', reason: partial })).toBe('completed (partial)')
  expect(formatTaskState({ state: 'completed', shortfall: 'empty' })).toBe('completed (empty)')
  expect(formatTaskState({ state: 'review', reason: partial })).toBe('review (partial)')
  expect(formatTaskState({ state: 'timed_out', reason: { kind: 'total_timeout' } })).toBe('timed out')
  expect(formatTaskState({ state: 'running', reason: null, interrupted: true })).toBe('interrupted (no daemon)')
})

test('a time of another day has its date', () => {
  const at = new Date(2026, 0, 2, 3, 4)
  expect(formatTime(at.toISOString(), new Date(2026, 0, 2, 9))).toBe('03:04')
  expect(formatTime(at.toISOString(), new Date(2026, 0, 3, 9))).toBe('2026-01-02 03:04')
})

test('a table stays within the width and lines up wide characters', () => {
  const lines = table(
    ['ID', 'AGENT', 'PROMPT'],
    [
      ['1', '日本', 'short'],
      ['22', 'demo', 'a prompt that is much longer than the room'],
    ],
    30,
  ).split('\n')
  expect(lines).toEqual(['ID  AGENT  PROMPT', '1   日本   short', '22  demo   a prompt that is m…'])
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(30)
})

test('a narrow table drops what it can do without, and never goes beyond the width', () => {
  const head = ['ID', 'STATE', 'AGENT', 'AGE', 'PROMPT']
  const rows = [['abc123', 'failed: a_rather_long_reason', 'helper', '5 m', 'a prompt that is longer']]
  const [first, second] = table(head, rows, 40, ['AGE', 'AGENT']).split('\n')
  expect(first).toMatch(/^ID +STATE +PROMPT$/)
  expect(second).toMatch(/^abc123 {2}failed.*… {2}a prompt that/)
  expect(widthOf(second!)).toBeLessThanOrEqual(40)
})

test('sentences break between words, indented like their beginning; colours take no room', () => {
  expect(wrap('• one two three four', 11)).toBe('• one two\n  three\n  four')
  expect(wrap('\x1b[2m• one two\x1b[22m', 9)).toBe('\x1b[2m• one two\x1b[22m')
  expect(wrap('one\n  two three', 8)).toBe('one\n  two\n  three')
})

test('how long it is until then is said in two units at most, and never as a time that has passed', () => {
  const at = (ms: number) => formatUntil(new Date(1_000_000_000 + ms).toISOString(), 1_000_000_000)
  expect([-5_000, 0, 400, 40_000, 119 * 60_000, 76 * 3_600_000].map(at)).toEqual([
    'now',
    'now',
    'in 1 s',
    'in 40 s',
    'in 1 h 59 m',
    'in 3 d 04 h',
  ])
})
