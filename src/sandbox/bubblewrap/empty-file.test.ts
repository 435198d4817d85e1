import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { emptyFile } from './empty-file.ts'

test('there is one empty file for all, which anybody may read and nobody but us replace', () => {
  const file = emptyFile()
  expect(emptyFile()).toBe(file)
  expect([statSync(file).size, statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0, 0o444, 0o755])
  expect(readdirSync(dirname(file))).toEqual(['empty'])
})

test('a folder in which others may write is not used', () => {
  const folder = dirname(emptyFile())
  chmodSync(folder, 0o777)
  try {
    const other = dirname(emptyFile())
    expect(other).not.toBe(folder)
    rmSync(other, { recursive: true })
  } finally {
    chmodSync(folder, 0o755)
  }
})
