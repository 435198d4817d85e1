import { expect, test } from 'vitest'
import { listLines } from './lines.ts'

test('a task that did only a part of its work, and one whose process is gone, look like what they are', () => {
  const ended = '2026-01-01T00:00:00Z'
  const task = {
    id: 't_0123456789abcdef01',
    agent: 'demo',
    name: 'build',
    prompt: 'x',
    proof: 'reported',
    current: null,
    reason: null,
  }
  const overview = {
    ...{ questions: [], asking: [], waiting: [], parked: [], queued: [], counts: {}, trouble: [], spentUsd: 0, capUsd: null },
    running: [{ ...task, state: 'running', interrupted: true }],
    doneToday: [{ ...task, state: 'completed', reason: { kind: 'partial' }, endedAt: ended }],
  }
  const lines = listLines({ overview: overview as never, nowMs: Date.parse(ended) }, 100).filter(({ item }) => item)
  expect(lines.map(({ text, tone }) => [text.trim().split(/ {2,}/).at(-1), tone])).toEqual([
    ['interrupted (no daemon): build', 'bad'],
    ['completed (partial) now: build', 'ask'],
  ])
})
