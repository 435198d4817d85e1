import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type CameTo, fingerprintIn, fingerprintOf } from './fingerprint.ts'

const end: CameTo = { outcome: 'failed', category: 'checks_failed', message: 'test 1 failed', text: 'tried at 12:30', tree: 'a' }

test('the same end has the same fingerprint, whatever the time and the numbers', () => {
  expect(fingerprintOf({ ...end, message: 'test 2 failed', text: 'tried at 13:31' })).toBe(fingerprintOf(end))
})

test.each<[string, Partial<CameTo>]>([
  ['work', { tree: 'b' }],
  ['answer', { text: 'tried something else' }],
  ['reason', { message: 'it does not build' }],
  ['kind of failure', { category: 'invalid_output' }],
])('another %s is another fingerprint', (_, changes) => {
  expect(fingerprintOf({ ...end, ...changes })).not.toBe(fingerprintOf(end))
})

test('what passes by itself, an interruption and a success leave none', () => {
  for (const category of ['rate_limited', 'overloaded', 'usage_limit', 'network', 'crashed'] as const)
    expect(fingerprintOf({ ...end, category })).toBeUndefined()
  for (const outcome of ['interrupted', 'lost', 'cancelled', 'succeeded', 'blocked'] as const)
    expect(fingerprintOf({ ...end, outcome })).toBeUndefined()
})

test('the work in a folder is a part of it, and is not read where nothing would be tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-fingerprint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const before = await fingerprintIn(folder, end)
  expect(await fingerprintIn(folder, end)).toBe(before)
  writeFileSync(join(folder, 'a.txt'), 'x')
  expect(await fingerprintIn(folder, end)).not.toBe(before)
  expect(await fingerprintIn(folder, { ...end, category: 'auth_failed' })).toBeUndefined()
  expect(await fingerprintIn(join(folder, 'missing'), end)).toBeUndefined()
})
