import { expect, test } from 'vitest'
import { formatAge, formatBytes, formatElapsed, formatMoney, formatTime } from './format.ts'
import { widthOf } from './plain.ts'
import { table } from './table.ts'

test('times, sizes and money are short and exact enough', () => {
  expect([400, 3000, 12_900, 185_000, 7_800_000].map(formatElapsed)).toEqual(['0.4 s', '3 s', '12 s', '3 m 05 s', '2 h 10 m'])
  expect([-5, 40_000, 300_000, 10_800_000, 172_800_000].map(formatAge)).toEqual(['now', '40 s', '5 m', '3 h', '2 d'])
  expect([0, 0.0123, 1.5].map(formatMoney)).toEqual(['$0.00', '$0.012', '$1.50'])
  expect([12, 2048, 50_000_000].map(formatBytes)).toEqual(['12 B', '2.0 KiB', '48 MiB'])
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
