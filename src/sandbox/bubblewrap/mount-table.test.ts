import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporarySuffix } from '../files/temporary.ts'
import { sweepTables, withTable } from './mount-table.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-tables-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a table is there while it is followed, and gone however that ends', async () => {
  const table = { path: join(folder, 'table-1'), text: '/a /b none rbind\n' }
  expect(await withTable(table, async () => readFileSync(table.path, 'utf8'))).toBe(table.text)
  expect(existsSync(table.path)).toBe(false)
  const failing = withTable(table, async () => {
    throw new Error('no walls')
  })
  await expect(failing).rejects.toThrow('no walls')
  expect(readdirSync(folder)).toEqual([])
})

test('tables that somebody left who was killed are removed, and those that are just being followed stay', () => {
  const living = `table${temporarySuffix()}`
  const dead = spawnSync('true').pid
  for (const name of [`table.${dead}-1-1.tmp`, living, 'folder-0']) writeFileSync(join(folder, name), '')
  sweepTables(folder)
  expect(readdirSync(folder)).toEqual(['folder-0', living])
})
