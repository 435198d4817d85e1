import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { removeLeft } from '../../sandbox/files/temporary.ts'
import { copyWorkspace } from './copy.ts'
import { sweepCopies } from './left-copies.ts'

const task = 't_1'
const now = Date.parse('2026-01-02T12:00:00Z')
const justEnded = async () => ({ ended: new Map([[task, new Date(now - 1_000)]]), deleted: new Set<string>() })

let home: string
let original: string
beforeEach(() => {
  const root = realpathSync.native(mkdtempSync(join(tmpdir(), 'pawl-left-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  home = join(root, 'home')
  original = join(root, 'original')
  mkdirSync(home)
  write(original, { 'users.txt': "the user's", 'd/changes.txt': 'before', 'd/goes.txt': 'before' })
})

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

const planOf = (fence: number) => ({
  ...{ original, folder: join(home, 'workspaces'), task, fence, without: home, paths: [], signal: new AbortController().signal },
  owner: { uid: process.getuid!(), gid: process.getgid!() },
})
const sweep = (endsOf = justEnded) => sweepCopies(home, { paths: [], endsOf, now })
const leftOver = () => readdirSync(join(home, 'workspaces'))
const text = (path: string) => readFileSync(join(original, path), 'utf8')

test('what a killed run changed in a copy is brought back when its task has ended, and the copy is gone', async () => {
  const { path } = await copyWorkspace(planOf(1))
  write(path, { 'd/changes.txt': 'after', 'new/one.txt': 'new' })
  rmSync(join(path, 'd/goes.txt'))
  expect(await sweep()).toEqual([{ task, detail: `What its last run changed was brought back to ${original}: 3 files.` }])
  expect([text('d/changes.txt'), text('new/one.txt'), existsSync(join(original, 'd/goes.txt'))]).toEqual(['after', 'new', false])
  expect(leftOver()).toEqual([])
})

test('a copy is left alone while its task may go on, and by whoever finds that another run has it', async () => {
  const { path } = await copyWorkspace(planOf(1))
  write(path, { 'new.txt': 'new' })
  expect(await sweep(async () => ({ ended: new Map(), deleted: new Set() }))).toEqual([])
  expect(leftOver()).toEqual(['t_1.1.copy'])
  const taken = sweep(async () => {
    await copyWorkspace(planOf(2))
    return justEnded()
  })
  expect(await taken).toEqual([])
  expect(leftOver()).toEqual(['t_1.2.copy'])
})

test('nothing is brought back to a folder that was exchanged for another one since', async () => {
  const { path } = await copyWorkspace(planOf(1))
  write(path, { 'new.txt': 'new' })
  renameSync(original, `${original}.away`)
  write(original, { 'users.txt': 'of another folder' })
  const [swept] = await sweep()
  expect(swept?.detail).toContain(`is kept in ${path}`)
  expect(readdirSync(original)).toEqual(['users.txt'])
})

test('what the user changed too stays in the copy, once, for another run or a person', async () => {
  const { path } = await copyWorkspace(planOf(1))
  write(path, { 'd/changes.txt': "the agent's", 'new.txt': 'new' })
  write(original, { 'd/changes.txt': "the user's own" })
  const [swept] = await sweep()
  expect(swept?.detail).toContain(`is kept in ${path}: d/changes.txt`)
  expect([text('d/changes.txt'), text('new.txt')]).toEqual(["the user's own", 'new'])
  // Hours later nothing changes in the user's folder any more.
  write(original, { 'd/changes.txt': 'before' })
  expect(await sweep()).toEqual([])
  expect(text('d/changes.txt')).toBe('before')
  expect(readFileSync(join((await copyWorkspace(planOf(2))).path, 'd/changes.txt'), 'utf8')).toBe("the agent's")
})

test('nothing comes back a day after its task ended; what holds no work is removed all the same', async () => {
  const { path } = await copyWorkspace(planOf(1))
  const longAgo = async () => ({ ended: new Map([[task, new Date(now - 48 * 3_600_000)]]), deleted: new Set<string>() })
  write(path, { 'new.txt': 'new' })
  expect((await sweep(longAgo))[0]?.detail).toContain(`is kept in ${path}`)
  expect(existsSync(join(original, 'new.txt'))).toBe(false)
  expect(leftOver()).toEqual(['t_1.1.copy'])
  rmSync(join(home, 'workspaces'), { recursive: true })
  await copyWorkspace(planOf(2))
  expect(await sweep(async () => ({ ended: new Map(), deleted: new Set([task]) }))).toEqual([])
  expect(leftOver()).toEqual([])
})

/** As a run: a copy, an agent that works in it, and its end. Says how far it is. */
const program = `
  const [copyFile, plan] = process.argv.slice(1)
  const { copyWorkspace } = await import(copyFile)
  const { rmSync, writeFileSync } = await import('node:fs')
  const copy = await copyWorkspace({ ...JSON.parse(plan), signal: new AbortController().signal })
  for (let n = 0; n < 60; n++) writeFileSync(copy.path + '/d/new-' + n, 'x'.repeat(200_000))
  writeFileSync(copy.path + '/d/changes.txt', 'after')
  rmSync(copy.path + '/d/goes.txt')
  console.log('worked')
  const changes = await copy.bringBack()
  if (changes.conflicts.length + changes.failed.length > 0) throw new Error(JSON.stringify(changes))
  console.log('brought')
  await copy.remove()
  console.log('removed')
`

test('of a process that is killed at any moment nothing is left, and no file of the user is lost', {
  timeout: 120_000,
}, async () => {
  for (let n = 0; n < 400; n++) write(original, { [`many/${n}`]: 'x' })
  const copyFile = fileURLToPath(new URL('./copy.ts', import.meta.url))
  let cutOff = 0
  for (let round = 0; round < 8; round++) {
    write(original, { 'd/changes.txt': 'before', 'd/goes.txt': 'before' })
    for (let n = 0; n < 60; n++) rmSync(join(original, `d/new-${n}`), { force: true })
    const child = spawn(
      process.execPath,
      ['--no-warnings', '--input-type=module', '--eval', program, copyFile, JSON.stringify(planOf(2 * round + 1))],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (words: string) => {
      said += words
    })
    const gone = once(child, 'exit')
    // A half of them while it brings back, the others while it removes the copy.
    const from = round % 2 === 0 ? 'worked' : 'brought'
    while (!said.includes(from) && child.exitCode === null) await pause(1)
    await pause(Math.random() * (round % 2 === 0 ? 60 : 12))
    child.kill('SIGKILL')
    await gone
    if (!said.includes('removed')) cutOff++
    // By the next run of the task, or because there is none.
    if (round % 4 < 2) {
      const next = await copyWorkspace(planOf(2 * round + 2))
      await next.bringBack()
      await next.remove()
    } else await sweep()
    await removeLeft(join(home, 'workspaces'))
    expect(leftOver()).toEqual([])
    expect(readdirSync(original).toSorted()).toEqual(['d', 'many', 'users.txt'])
    expect(readdirSync(join(original, 'many'))).toHaveLength(400)
    expect(readdirSync(join(original, 'd')).filter((name) => !name.startsWith('new-'))).toEqual(['changes.txt'])
    expect(readdirSync(join(original, 'd'))).toHaveLength(61)
    expect([text('d/changes.txt'), text('users.txt')]).toEqual(['after', "the user's"])
  }
  expect(cutOff).toBeGreaterThan(2)
})
