import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeFileDurably } from './durable-file.ts'

it('many who write the same file at once each leave it whole, and nothing beside it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-durable-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'facts.json')
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(1_000 * (20 - index)))
  await Promise.all(texts.map((text) => writeFileDurably(path, text)))
  expect(texts).toContain(await readFile(path, 'utf8'))
  expect(await readdir(folder)).toEqual(['facts.json'])
})
