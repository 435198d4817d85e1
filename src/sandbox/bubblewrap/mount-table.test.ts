import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
  const old = new Date(Date.now() - 3_600_000)
  for (const name of ['table-old', 'table-new', 'folder-0']) writeFileSync(join(folder, name), '')
  for (const name of ['table-old', 'folder-0']) utimesSync(join(folder, name), old, old)
  sweepTables(folder)
  expect(readdirSync(folder)).toEqual(['folder-0', 'table-new'])
})
