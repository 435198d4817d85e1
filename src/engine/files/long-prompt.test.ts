import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { adapterNamed } from '../../agents/index.ts'
import { resolveProfile } from '../../domain/profile/resolve.ts'
import { maxInlineBytes } from '../../domain/task/task.ts'
import { layPrompt } from './long-prompt.ts'

const home = mkdtempSync(join(tmpdir(), 'pawl-long-prompt-'))
afterAll(() => rmSync(home, { recursive: true }))
const id = 't_0123456789abcdefgh'
const lay = (prompt: string, adapter = 'claude-code', profile = 'guarded') =>
  layPrompt({ id, prompt }, { adapter: adapterNamed(adapter), profile: resolveProfile(profile), home, user: undefined })

test('a prompt that fits is said as it is, and nothing is written', async () => {
  const prompt = 'x'.repeat(maxInlineBytes)
  expect(await lay(prompt)).toEqual({ prompt, mounts: [] })
  expect(readdirSync(home)).toEqual([])
})

test('a longer one lies in the session home, whole, and the agent is told its beginning and where it is', async () => {
  const prompt = `Sum it up. ${'🦀'.repeat(maxInlineBytes)}`
  const { prompt: told, folder, mounts } = await lay(prompt)
  const file = join(home, '.pawl-prompts', `${id}.md`)
  expect(readFileSync(file, 'utf8')).toBe(prompt)
  expect(told.startsWith('Sum it up. 🦀')).toBe(true)
  expect(told).toContain(`in the file ${file}: read that file`)
  expect(told.isWellFormed()).toBe(true)
  expect(Buffer.byteLength(told)).toBeLessThan(20_000)
  expect([folder, mounts]).toEqual([join(home, '.pawl-prompts'), []])
})

test('our own tools are shown the folder, read-only, where the program has none of its own', async () => {
  const folder = join(home, '.pawl-prompts')
  expect((await lay('x'.repeat(maxInlineBytes + 1), 'claude-code', 'strict')).mounts).toEqual([
    { source: folder, path: folder, mode: 'ro' },
  ])
})

test('a plain command is given everything', async () => {
  const prompt = 'x'.repeat(maxInlineBytes + 1)
  expect(await lay(prompt, 'custom')).toEqual({ prompt, mounts: [] })
})
