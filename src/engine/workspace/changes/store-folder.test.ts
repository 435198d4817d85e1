import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStoreFolder, sweepStores } from './store-folder.ts'

const base = { runs: ['r_1'], picture: { tree: 'a'.repeat(40), large: {}, nested: [] } }

function world() {
  const home = mkdtempSync(join(tmpdir(), 'pawl-store-folder-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const folder = join(home, 'changes')
  mkdirSync(folder)
  const put = (name: string) => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'picture'), 'what was there')
  }
  const record = (name: string) => writeFileSync(join(folder, `${name}.json`), JSON.stringify(base))
  const openAt = (fence: number) => openStoreFolder(home, { task: 't_1', fence }, { user: undefined, isOpen: async () => true })
  return { home, folder, put, record, openAt }
}

/** What lies there when a run with fence 2 dies while it takes over what the one with fence 1 left. */
const cuts = {
  'before anything': ['t_1.1', 't_1.1.json'],
  'after the record': ['t_1.1', 't_1.1.json', 't_1.2.json'],
  'after the folder': ['t_1.2', 't_1.1.json', 't_1.2.json'],
  'after all': ['t_1.2', 't_1.2.json'],
}

test.each(Object.entries(cuts))('what a run left is taken over once more by the next, cut off %s', async (_, names) => {
  const { home, folder, put, record, openAt } = world()
  for (const name of names) name.endsWith('.json') ? record(name.slice(0, -5)) : put(name)
  const { path, left } = await openAt(3)
  expect([path, left]).toEqual([join(folder, 't_1.3'), base])
  expect(existsSync(join(path, 'picture'))).toBe(true)
  expect(readdirSync(folder).filter((name) => !name.endsWith('.json'))).toEqual(['t_1.3'])
  // Records without a folder go with the task.
  await sweepStores(home, async () => new Set())
  expect(readdirSync(folder)).toEqual([])
})

test('a run takes over and leaves nothing of the one before', async () => {
  const { folder, put, record, openAt } = world()
  put('t_1.1')
  record('t_1.1')
  expect((await openAt(2)).left).toEqual(base)
  expect(readdirSync(folder).sort()).toEqual(['t_1.2', 't_1.2.json'])
})
