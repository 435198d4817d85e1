import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from './lock.ts'
import { isGone, ownProcess } from './process-mark.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pawl-lock-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('only one is inside at a time, everybody gets in, and one ticket is left', async () => {
  let inside = 0
  let most = 0
  const visit = async (who: number) => {
    most = Math.max(most, ++inside)
    await nextTurn()
    inside--
    return who
  }
  const all = [...Array(12).keys()]
  expect(await Promise.all(all.map((who) => withLock(dir, () => visit(who))))).toEqual(all)
  expect({ most, files: readdirSync(dir).length }).toEqual({ most: 1, files: 1 })
})

test('work that throws gives the lock back', async () => {
  await expect(withLock(dir, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(dir, async () => 'in')).toBe('in')
})

test('the ticket of a dead process binds nobody', async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(join(dir, '7'), JSON.stringify({ owner: { ...ownProcess(), pid } }))
  expect(await withLock(dir, async () => readdirSync(dir))).toEqual(['8'])
})

test('a ticket cut short by a crash of the machine binds nobody', async () => {
  writeFileSync(join(dir, '3'), '')
  expect(await withLock(dir, async () => readdirSync(dir))).toEqual(['4'])
})

test('a pid that was given out again is not its former owner', () => {
  expect(isGone(ownProcess())).toBe(false)
  expect(isGone({ ...ownProcess(), started: '1' })).toBe(true)
  expect(isGone({ ...ownProcess(), boot: 'an earlier boot' })).toBe(true)
})

test('a process in another container on the same boot counts as there', () => {
  expect(isGone({ ...ownProcess(), pid: 1, started: '1', space: 'pid:[1]' })).toBe(false)
})

test('who waits too long is told which process holds the lock', async () => {
  await withLock(dir, async () => {
    await expect(withLock(dir, async () => 'never', { waitMs: 30 })).rejects.toThrow(`Process ${process.pid} has been`)
  })
})
