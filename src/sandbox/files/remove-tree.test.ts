import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openHome, removeFile } from '../../engine/session/home.ts'
import { removeHomeFile } from './home-files.ts'
import { removeTree } from './remove-tree.ts'

describe('a tree that belongs to an agent', () => {
  let base: string
  let home: string
  let victim: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-remove-tree-'))
    home = join(base, 'home')
    victim = join(base, 'victim')
    mkdirSync(home)
    mkdirSync(join(victim, 'd'), { recursive: true })
    for (let i = 0; i < 50; i++) for (const at of [`f${i}`, `d/f${i}`]) writeFileSync(join(victim, at), 'keep me')
  })
  afterEach(() => removeTree(base))

  test.each([
    ['a whole tree', () => removeTree(join(home, 'tree'))],
    ['a file of ours in a session home', () => removeHomeFile({ home, path: 'tree/d' })],
  ])('%s is removed while a process swaps its folders for links: nothing outside is touched', async (_, remove) => {
    const racer = spawn(process.execPath, ['-e', swapper], { env: { HOME_OF_AGENT: home, VICTIM: victim }, stdio: 'ignore' })
    try {
      await until(() => existsSync(join(home, 'tree')))
      const end = performance.now() + 3_000
      let removals = 0
      while (performance.now() < end) {
        await remove().catch((error: { code?: string }) => expect(error.code).toBe('ENOTEMPTY'))
        removals++
      }
      expect(removals).toBeGreaterThan(0)
    } finally {
      racer.kill('SIGKILL')
      await once(racer, 'exit')
    }
    expect(readdirSync(victim)).toHaveLength(51)
    expect(readdirSync(join(victim, 'd'))).toHaveLength(50)
    expect(readFileSync(join(victim, 'f0'), 'utf8')).toBe('keep me')
  })

  test('a file is removed while a process swaps it for a folder and that for a link: nothing outside is touched', async () => {
    const racer = spawn(process.execPath, ['-e', threeWay], { env: { HOME_OF_AGENT: home, VICTIM: victim }, stdio: 'ignore' })
    const opened = await openHome(home)
    try {
      await until(() => existsSync(join(home, 'd')))
      const end = performance.now() + 3_000
      while (performance.now() < end)
        // Giving up with an error is fine here; what counts is the victim.
        await removeFile(opened!, 'x').catch(() => undefined)
    } finally {
      racer.kill('SIGKILL')
      await once(racer, 'exit')
      await opened?.root.close()
    }
    expect(readdirSync(victim)).toHaveLength(51)
  })

  test('the same holds where neither Pawl nor the agent is root', async () => {
    const plain = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    if (plain.uid !== undefined) {
      chmodSync(base, 0o755)
      const all = [
        home,
        victim,
        join(victim, 'd'),
        ...[...Array(50).keys()].flatMap((i) => [`f${i}`, `d/f${i}`]).map((at) => join(victim, at)),
      ]
      for (const path of all) chownSync(path, plain.uid, plain.gid)
    }
    const env = { HOME_OF_AGENT: home, VICTIM: victim, MODULE: join(import.meta.dirname, 'remove-tree.ts') }
    const racer = spawn(process.execPath, ['-e', swapper], { env, stdio: 'ignore', ...plain })
    try {
      await until(() => existsSync(join(home, 'tree')))
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', remover], { env, ...plain })
      expect(Number(stdout)).toBeGreaterThan(0)
    } finally {
      racer.kill('SIGKILL')
      await once(racer, 'exit')
    }
    expect(readdirSync(victim)).toHaveLength(51)
    expect(readdirSync(join(victim, 'd'))).toHaveLength(50)
  })

  test('goes with links, pipes, closed folders and names that are no text', async () => {
    const tree = join(home, 'tree')
    mkdirSync(join(tree, 'closed', 'inside'), { recursive: true })
    writeFileSync(join(tree, 'closed', 'inside', 'file'), '')
    symlinkSync(victim, join(tree, 'link'))
    symlinkSync('nowhere', join(tree, 'dangling'))
    execFileSync('mkfifo', [join(tree, 'pipe')])
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0x66, 0xff, 0xfe])]), '')
    chmodSync(join(tree, 'closed', 'inside'), 0)
    chmodSync(join(tree, 'closed'), 0)
    await removeTree(tree)
    expect(readdirSync(home)).toEqual([])
    expect(readdirSync(victim)).toHaveLength(51)
  })

  test('goes however deep it is and however much is in it, and other work goes on meanwhile', async () => {
    const tree = join(home, 'tree')
    mkdirSync(join(tree, 'wide'), { recursive: true })
    execFileSync(process.execPath, ['-e', deep], { cwd: tree })
    for (let i = 0; i < 5_000; i++) writeFileSync(join(tree, 'wide', String(i)), '')
    let longest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    await removeTree(tree)
    clearInterval(timer)
    expect(existsSync(tree)).toBe(false)
    expect(longest).toBeLessThan(1_000)
  })

  test('that was a link from the start is removed as a link, and one that is not there is no error', async () => {
    symlinkSync(victim, join(home, 'tree'))
    await removeTree(join(home, 'tree'))
    await removeTree(join(home, 'tree'))
    await removeTree(join(home, 'no', 'tree'))
    expect(readdirSync(home)).toEqual([])
    expect(readdirSync(victim)).toHaveLength(51)
  })

  test('that is filled faster than it can be emptied is given up with an error, not tried forever', async () => {
    const tree = join(home, 'tree')
    mkdirSync(tree)
    const filler = spawn(process.execPath, ['-e', fill], { cwd: tree, stdio: 'ignore' })
    try {
      await until(() => readdirSync(tree).length > 10)
      // Either we were faster for a moment, or it says why not.
      await removeTree(tree).catch((error: { code?: string }) => expect(error.code).toBe('ENOTEMPTY'))
    } finally {
      filler.kill('SIGKILL')
      await once(filler, 'exit')
    }
  })
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const swapper = `
const fs = require('fs')
const tree = process.env.HOME_OF_AGENT + '/tree', victim = process.env.VICTIM
const quietly = (act) => { try { act() } catch {} }
for (let n = 0; ; n++) {
  quietly(() => fs.mkdirSync(tree + '/d/d', { recursive: true }))
  for (let i = 0; i < 30; i++) quietly(() => fs.writeFileSync(tree + '/d/f' + i, ''))
  for (let i = 0; i < 20; i++) {
    quietly(() => fs.renameSync(tree + '/d', tree + '/away' + n))
    quietly(() => fs.symlinkSync(victim, tree + '/d'))
    quietly(() => fs.unlinkSync(tree + '/d'))
    quietly(() => fs.renameSync(tree + '/away' + n, tree + '/d'))
  }
  if (n % 7 === 0) {
    quietly(() => fs.renameSync(tree, tree + '-away'))
    quietly(() => fs.symlinkSync(victim, tree))
    quietly(() => fs.unlinkSync(tree))
    quietly(() => fs.renameSync(tree + '-away', tree))
  }
}`
/** A name that is a file at one look, a folder with entries at the next, and a link to another folder with the same names after that. */
const threeWay = `
const fs = require('fs')
const home = process.env.HOME_OF_AGENT, victim = process.env.VICTIM
const quietly = (act) => { try { act() } catch {} }
const wait = (us) => { const end = process.hrtime.bigint() + BigInt(Math.floor(Math.random() * us * 1000)); while (process.hrtime.bigint() < end); }
for (;;) {
  quietly(() => fs.mkdirSync(home + '/d'))
  for (let i = 0; i < 50; i++) quietly(() => fs.closeSync(fs.openSync(home + '/d/f' + i, 'a')))
  for (let i = 0; i < 10; i++) {
    quietly(() => fs.symlinkSync(victim, home + '/l'))
    quietly(() => fs.writeFileSync(home + '/x', ''))
    wait(60)
    quietly(() => fs.unlinkSync(home + '/x'))
    quietly(() => fs.renameSync(home + '/d', home + '/x'))
    wait(300)
    quietly(() => fs.renameSync(home + '/x', home + '/d'))
    quietly(() => fs.renameSync(home + '/l', home + '/x'))
    wait(300)
    quietly(() => fs.renameSync(home + '/x', home + '/l'))
  }
}`
const remover = `
import(process.env.MODULE).then(async ({ removeTree }) => {
  const end = performance.now() + 2000
  let removals = 0
  while (performance.now() < end) {
    await removeTree(process.env.HOME_OF_AGENT + '/tree').catch((error) => { if (error.code !== 'ENOTEMPTY') throw error })
    removals++
  }
  console.log(removals)
})`
const deep = `
const fs = require('fs')
for (let i = 0; i < 1500; i++) { fs.mkdirSync('deeper'); process.chdir('deeper') }`
const fill = `
const fs = require('fs')
for (let i = 0; ; i++) try { fs.mkdirSync('d' + (i % 5000)) } catch {}`
