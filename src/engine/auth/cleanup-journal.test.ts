import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLeftovers } from './cleanup-journal.ts'

test('what a dead process left goes, the file it had not finished too, and what a living one holds stays', async () => {
  const { home, session } = await makeHome()
  const [dead, living] = [await session('s_dead'), await session('s_living')]
  for (const [worker, sessionHome] of [
    ['w_dead', dead],
    ['w_living', living],
  ] as const) {
    await createLeftovers({ home, worker }).remember(sessionHome, ['.tool/login.json', '.pawl-key'])
    for (const name of ['.tool/login.json', '.tool/.pawl-0123.tmp', '.tool/history', '.pawl-key', '.pawl-run.json'])
      await writeFile(join(sessionHome, name), name)
  }
  const rescued: unknown[] = []
  const next = createLeftovers({ home, worker: 'w_next' })
  const sweep = () =>
    next.sweep({ living: async () => new Set(['w_living']), rescue: async (...left) => void rescued.push(left) })
  expect([await sweep(), await sweep()]).toEqual([1, 0])
  expect(rescued).toEqual([[dead, ['.tool/login.json', '.pawl-key']]])
  expect(await filesIn(dead)).toEqual(['.pawl-run.json', '.tool', '.tool/history'])
  expect(await filesIn(living)).toHaveLength(6)
  expect(await readdir(join(home, 'leftovers'))).toEqual(['s_living.json'])
})

test('a folder of keys that a dead process left goes with all that is in it', async () => {
  const { home } = await makeHome()
  const records = join(home, 'runs', 'r_dead')
  await mkdir(join(records, 'ssh', 'ssh-1'), { recursive: true })
  await writeFile(join(records, 'ssh', 'ssh-1', 'key'), 'a key')
  await writeFile(join(records, 'stdout.log'), 'kept')
  await createLeftovers({ home, worker: 'w_dead' }).remember(records, [], ['ssh'])
  expect(await createLeftovers({ home, worker: 'w_next' }).sweep({ living: nobody })).toBe(1)
  expect(await filesIn(records)).toEqual(['stdout.log'])
})

test('what could not be rescued is not removed, and keeps nothing else from it', async () => {
  const { home, session } = await makeHome()
  const [dead, other] = [await session('s_dead'), await session('s_other')]
  for (const sessionHome of [dead, other]) {
    await createLeftovers({ home, worker: 'w_dead' }).remember(sessionHome, ['.tool/login.json'])
    await writeFile(join(sessionHome, '.tool/login.json'), 'renewed')
  }
  const next = createLeftovers({ home, worker: 'w_next' })
  const refuse = async (sessionHome: string) => {
    if (sessionHome === dead) throw new Error('the disk is full')
  }
  await expect(next.sweep({ living: nobody, rescue: refuse })).rejects.toThrow('the disk is full')
  expect(await filesIn(dead)).toEqual(['.tool', '.tool/login.json'])
  expect(await filesIn(other)).toEqual(['.tool'])
  expect(await next.recall(dead)).toEqual(['.tool/login.json'])
})

test('what a living process has taken over from a dead one stays', async () => {
  const { home, session } = await makeHome()
  const sessionHome = await session('s_taken')
  await createLeftovers({ home, worker: 'w_dead' }).remember(sessionHome, ['.tool/login.json'])
  await writeFile(join(sessionHome, '.tool/login.json'), 'lent again')
  const living = async () => {
    await createLeftovers({ home, worker: 'w_heir' }).remember(sessionHome, ['.tool/login.json'])
    return new Set(['w_heir'])
  }
  expect(await createLeftovers({ home, worker: 'w_next' }).sweep({ living })).toBe(0)
  expect(await filesIn(sessionHome)).toEqual(['.tool', '.tool/login.json'])
})

const nobody = async () => new Set<string>()
const filesIn = async (folder: string) => (await readdir(folder, { recursive: true })).toSorted()

async function makeHome() {
  const home = await mkdtemp(join(tmpdir(), 'pawl-leftovers-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const session = async (name: string) => {
    const folder = join(home, 'sessions', name)
    await mkdir(join(folder, '.tool'), { recursive: true })
    return folder
  }
  return { home, session }
}
