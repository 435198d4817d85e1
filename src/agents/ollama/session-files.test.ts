import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openHistory } from './program/history.ts'
import { sessionFiles } from './session-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'pawl-loop-history-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = '2026-01-01T00:00:00.000Z'
const vendorId = '01234567-89ab-4cde-8f01-23456789abcd'

test('a conversation that is rebuilt from the journal is one that the loop can go on with', () => {
  const transcript = [
    { kind: 'user', text: 'go', at },
    { kind: 'tool', callId: 'same', tool: 'bash', input: { command: 'ls' }, output: 'a', isError: false, at },
    { kind: 'tool', callId: 'same', tool: 'bash', input: 'ls', isError: false, at },
    { kind: 'agent', text: 'done', at },
  ] as const
  const made = sessionFiles.rebuild!(transcript, { vendorId, workspace: '/w' })
  expect(sessionFiles.layouts(vendorId)).toEqual([made.path])
  expect(vendorId).toMatch(sessionFiles.id)
  const file = join(folder, 'rebuilt.jsonl')
  writeFileSync(file, made.content)
  const { messages } = openHistory(file, { resume: true })
  expect(messages.map((message) => [message.role, message.content])).toEqual([
    ['user', 'go'],
    ['assistant', ''],
    ['tool', 'a'],
    ['assistant', ''],
    ['tool', 'Nobody knows how this call ended.'],
    ['assistant', 'done'],
  ])
  const ids = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
  expect(new Set(ids).size).toBe(2)
})

test('a line that was cut short spoils no other, and the file only grows', () => {
  const file = join(folder, 'cut.jsonl')
  openHistory(file, { resume: false }).add({ role: 'user', content: 'one' })
  appendFileSync(file, '\n{"type":"message","mess')
  const before = readFileSync(file, 'utf8')
  openHistory(file, { resume: true }).add({ role: 'user', content: 'two' })
  expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true)
  expect(openHistory(file, { resume: true }).messages.map(({ content }) => content)).toEqual(['one', 'two'])
})

test('what an id of another program looks like is none', () => {
  for (const id of ['../../etc/passwd', 'demo-0123456789abcdef', '']) expect(sessionFiles.id.test(id)).toBe(false)
})
