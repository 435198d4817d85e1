import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { madeOnce, readIfThere } from './made-once.ts'

test('of many who make it at once all are told the same, which stays, and nothing else is left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-once-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (let round = 0; round < 20; round++) {
    const file = join(folder, `key-${round}`)
    expect(await readIfThere(file)).toBeUndefined()
    let made = 0
    const told = await Promise.all(Array.from({ length: 20 }, () => madeOnce(file, () => `made ${++made}`)))
    expect(new Set([...told, await readIfThere(file), await madeOnce(file, () => 'another')]).size).toBe(1)
  }
  expect(await readdir(folder)).toHaveLength(20)
})
