import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { glanceAt } from './stat-signature.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-glance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})
/** What was written is old enough to be told from what is written next. */
const steady = () => new Promise((after) => setTimeout(after, 60))

test('a folder without files is empty, whatever folders are in it and whatever git has there', async () => {
  await mkdir(join(folder, 'a/b'), { recursive: true })
  await mkdir(join(folder, '.git'))
  writeFileSync(join(folder, '.git/index'), 'x')
  expect((await glanceAt(folder, '/home/of/pawl'))?.isEmpty).toBe(true)
})

test('every change of a file shows, also one that keeps its size and its times', async () => {
  writeFileSync(join(folder, 'a'), 'one')
  const old = new Date(1_000_000)
  utimesSync(join(folder, 'a'), old, old)
  await steady()
  const seen = new Set<string | undefined>([(await glanceAt(folder, '/home/of/pawl'))?.digest])
  const changes = [
    () => {
      writeFileSync(join(folder, 'a'), 'two')
      utimesSync(join(folder, 'a'), old, old)
    },
    () => rename(join(folder, 'a'), join(folder, 'b')),
    () => symlink('b', join(folder, 'c')),
    () => rm(join(folder, 'b')),
  ]
  for (const change of changes) {
    await change()
    await steady()
    expect((await glanceAt(folder, '/home/of/pawl'))?.digest).toBe((await glanceAt(folder, '/home/of/pawl'))?.digest)
    seen.add((await glanceAt(folder, '/home/of/pawl'))?.digest)
  }
  expect(seen.size).toBe(changes.length + 1)
  expect(seen.has(undefined)).toBe(false)
})

test('what was written a moment ago, or is very much, is not told by a glance', async () => {
  writeFileSync(join(folder, 'a'), 'one')
  expect(await glanceAt(folder, '/home/of/pawl')).toBeUndefined()
  for (let n = 0; n < 2_001; n++) writeFileSync(join(folder, `f${n}`), '')
  await steady()
  expect(await glanceAt(folder, '/home/of/pawl')).toBeUndefined()
  expect(await glanceAt(join(folder, 'missing'), '/home/of/pawl')).toBeUndefined()
})
