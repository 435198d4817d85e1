import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listKept, removeKept } from './kept.ts'
import { put } from './testing.ts'

it('lists the workspaces that Pawl made, and removes those that nobody needs any more', async () => {
  const home = await mkdtemp(join(tmpdir(), 'pawl-kept-'))
  try {
    expect(await listKept(home, async () => true)).toEqual([])
    const files = ['tsk_a/x', 'tsk_b.2.copy/copy/x', 'tsk_b.1.kept/copy/x', 'tsk_c.clone/clone/x']
    await put(join(home, 'workspaces'), Object.fromEntries([...files, 'git.config'].map((path) => [path, 'x'.repeat(5_000)])))
    const hasEnded = async (task: string) => task === 'tsk_c'
    expect((await listKept(home, hasEnded)).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { name: 'tsk_a', task: 'tsk_a', kind: 'own', removable: false },
      { name: 'tsk_b.1.kept', task: 'tsk_b', kind: 'kept', removable: true },
      { name: 'tsk_b.2.copy', task: 'tsk_b', kind: 'copy', removable: false },
      { name: 'tsk_c.clone', task: 'tsk_c', kind: 'clone', removable: true, bytes: expect.any(Number) },
    ])
    expect((await removeKept(home, 'tsk_c.clone', hasEnded)).bytes).toBeGreaterThanOrEqual(5_000)
    await expect(removeKept(home, 'tsk_b.2.copy', hasEnded)).rejects.toThrow('has not ended')
    await expect(removeKept(home, '../guards', hasEnded)).rejects.toThrow('There is no workspace')
    expect((await readdir(join(home, 'workspaces'))).toSorted()).toEqual(['git.config', 'tsk_a', 'tsk_b.1.kept', 'tsk_b.2.copy'])
  } finally {
    await rm(home, { recursive: true })
  }
})
