import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBubblewrap } from '../../sandbox/bubblewrap/sandbox.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { bringBack } from './bring-back.ts'
import { capture, putBack } from './capture.ts'
import { copyTree } from './copy-tree.ts'
import { findCode } from './find-code.ts'
import { quarantine } from './quarantine.ts'
import { put, testPaths } from './testing.ts'
import { readTree } from './tree.ts'

/** Puts a link in the place of a folder and takes it away again, as fast as it can. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const [folder, outside] = process.argv.slice(1)
console.log('ready')
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2)
for (;;) {
  try { renameSync(folder, folder + '.away'); symlinkSync(outside, folder) } catch {}
  pause()
  try { unlinkSync(folder) } catch {}
  try { renameSync(folder + '.away', folder) } catch {}
  pause()
}
`

describe.runIf(process.platform === 'linux')('a folder that is swapped for a link thousands of times', () => {
  let base: string
  let root: string
  let outside: string
  let swapping: ChildProcess
  const theirs = { 'a.txt': 'theirs', '.agent/x': 'theirs', '.idea/x': 'theirs' }

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-race-'))
    root = join(base, 'ws')
    outside = join(base, 'outside')
    await put(outside, theirs)
    await put(root, { 'd/a.txt': '0', 'd/.keep': '' })
  })
  afterEach(async () => {
    swapping.kill('SIGKILL')
    await once(swapping, 'exit')
    await rm(base, { recursive: true, force: true })
  })

  const swap = async (folder: string) => {
    swapping = spawn(process.execPath, ['-e', swapper, folder, outside], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(swapping.stdout!, 'data')
  }
  const expectUntouched = async () => {
    const names = (await readdir(outside, { recursive: true })).toSorted()
    expect(names).toEqual(['.agent', '.agent/x', '.idea', '.idea/x', 'a.txt'])
    for (const name of Object.keys(theirs)) expect(await readFile(join(outside, name), 'utf8')).toBe('theirs')
  }

  it('leads nothing that is brought back to the outside', async () => {
    const copy = join(base, 'copy')
    await put(copy, { 'd/a.txt': '0', 'd/.keep': '' })
    const tree = await readTree(root)
    await swap(join(root, 'd'))
    let brought = 0
    for (let n = 1; n <= 300; n++) {
      await writeFile(join(copy, 'd/a.txt'), `${n}`)
      await writeFile(join(copy, `d/new-${n % 7}`), `${n}`)
      const { added, changed } = await bringBack(
        { copy, original: root, without: join(base, 'home'), temporaryName: '.pawl-races.tmp' },
        tree,
      )
      brought += added.length + changed.length
    }
    await expectUntouched()
    expect(brought).toBeGreaterThan(0)
  })

  it('leads neither quarantine nor what is put back to the outside', async () => {
    const home = join(base, 'home')
    await mkdir(home)
    await swap(join(root, 'd'))
    let moved = 0
    for (let n = 1; n <= 200; n++) {
      await mkdir(join(root, 'd.away/.agent')).catch(() => {})
      const parts = [
        { path: '', kind: 'directory' as const, mode: 0o755 },
        { path: 'x', kind: 'file' as const, mode: 0o644, content: '' },
      ]
      const found = await findCode(root, { paths: testPaths, without: home })
      expect(found.code.map(({ path }) => path).filter((path) => path.includes('.idea'))).toEqual([])
      const { items } = await quarantine({ home, run: `run_${n % 3}`, root, workspace: root }, [
        { path: 'd/.agent', runs: 'hooks', earlier: n % 2 ? parts : undefined },
      ])
      moved += items.length
      await capture(root, 'd/.agent', { keep: true })
      await putBack(root, 'd/.vscode', parts).catch(() => {})
      await rm(join(root, 'd.away/.vscode'), { recursive: true, force: true }).catch(() => {})
    }
    expect(moved).toBeGreaterThan(0)
    await expectUntouched()
  })

  it('leads no copy to the outside', async () => {
    for (let i = 0; i < 30; i++) await put(root, { [`d/deep${i}/a.txt`]: String(i) })
    await put(outside, Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`deep${i}/private`, 'theirs'])))
    await swap(join(root, 'd'))
    const { confine } = createBubblewrap()
    const signal = new AbortController().signal
    const end = performance.now() + 2_000
    let copies = 0
    while (performance.now() < end) {
      const to = join(base, 'copies', String(++copies))
      await mkdir(join(base, 'copies'), { recursive: true })
      // A file that went away is an error; what counts is what was copied.
      await copyTree(root, to, { without: join(base, 'home'), signal, confine }).catch(() => undefined)
      expect(execFileSync('find', [join(base, 'copies'), '-name', 'private'], { encoding: 'utf8' })).toBe('')
      await removeTree(to)
    }
    expect(copies).toBeGreaterThan(5)
  })
})
