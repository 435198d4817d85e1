import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Db } from '../store/database.ts'
import { listFolders } from './draft-folders.ts'

it('the folders of our own home are not offered, also where it lies behind a link', async () => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pawl-folders-')))
  onTestFinished(() => rm(base, { recursive: true }))
  await mkdir(join(base, 'data'))
  await mkdir(join(base, 'project'))
  await symlink(join(base, 'data'), join(base, 'home'))
  const offered = async (home: string) => {
    const parts = { db: {} as Db, home, userHome: base, sharedWorkspaces: [] }
    return (await listFolders(parts, base, undefined)).items.map(({ name }) => name)
  }
  expect(await offered(join(base, 'data'))).toEqual(['project'])
  expect(await offered(join(base, 'home'))).toEqual(['project'])
})
