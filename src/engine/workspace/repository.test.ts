import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryState, summarise } from './repository.ts'

it('counts an untracked file that was there before and was changed', async () => {
  const root = await mkdtemp(join(tmpdir(), 'pawl-repository-'))
  try {
    await mkdir(join(root, '.git'))
    await writeFile(join(root, 'notes'), 'before')
    const look = () => repositoryState(root, async ([verb]) => (verb === 'ls-files' ? 'notes\0' : ''))
    const before = (await look())!
    expect(summarise(before, await look())).toBeUndefined()
    await writeFile(join(root, 'notes'), 'after all')
    expect(summarise(before, await look())).toEqual({ summary: '1 changed', files: 1 })
  } finally {
    await rm(root, { recursive: true })
  }
})
