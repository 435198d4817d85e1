import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { which } from './which.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-which-'))
  for (const name of ['first', 'second']) await mkdir(join(folder, name))
  await writeFile(join(folder, 'first/agent'), '')
  await writeFile(join(folder, 'second/agent'), '')
  await chmod(join(folder, 'second/agent'), 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const path = () => `${folder}/first:${folder}/second`

test('a name is found where it can be executed', async () => {
  expect(which('agent', { path: path() })).toEqual({ file: `${folder}/second/agent` })
})

test('a file that cannot be executed is told apart from none', async () => {
  expect(which('agent', { path: `${folder}/first` })).toEqual({
    missing: 'not_executable',
    looked: `${folder}/first/agent`,
  })
  expect(which('other', { path: path() })).toEqual({ missing: 'not_found', looked: path() })
  expect(which(`${folder}/first`, { path: '' })).toEqual({ missing: 'not_executable', looked: `${folder}/first` })
})

test('a relative command is taken from the folder, a bare name never', async () => {
  expect(which('./agent', { path: '', folder: `${folder}/second` })).toEqual({ file: `${folder}/second/agent` })
  expect(which('agent', { path: ':.', folder: `${folder}/second` })).toMatchObject({ missing: 'not_found' })
})
