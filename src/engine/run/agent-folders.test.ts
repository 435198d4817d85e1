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
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { openDirectory } from '../../sandbox/files/directory-handle.ts'
import { readNamedFile, readRegular } from '../../sandbox/files/read-file.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { walkTree } from '../../sandbox/files/walk-tree.ts'
import { homeEntries } from '../../store/backup/home-files.ts'
import { makeRecordingFolder } from '../recordings/folder.ts'
import { keepTree } from '../recordings/keep-tree.ts'
import { readFolder } from '../skills/read-folder.ts'
import { cloneWorkspace } from '../workspace/clone.ts'
import { guardWorkspace } from '../workspace/guard.ts'
import { placeAt } from '../workspace/same-place.ts'
import { put, repository, testPaths } from '../workspace/testing.ts'
import { readSystemPrompt } from './prepare.ts'

/** Puts a link in the place of a folder, or of a file, and takes it away again, as fast as it can. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const [path, outside] = process.argv.slice(1)
console.log('ready')
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2)
for (;;) {
  try { renameSync(path, path + '.away'); symlinkSync(outside, path) } catch {}
  pause()
  try { unlinkSync(path) } catch {}
  try { renameSync(path + '.away', path) } catch {}
  pause()
}
`
const deep = `
const fs = require('fs')
for (let i = 0; i < Number(process.argv[1]); i++) { fs.mkdirSync('d'); process.chdir('d') }
fs.writeFileSync('file', 'x')`
const redactor = { stream: () => ({ write: (bytes: Buffer) => [bytes], end: () => Buffer.alloc(0) }) }

describe.runIf(process.platform === 'linux')('what Pawl reads in a folder that an agent can write', () => {
  let base: string
  let home: string
  let outside: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-agent-folders-'))
    home = join(base, 'home')
    outside = join(base, 'outside')
    mkdirSync(home)
    mkdirSync(outside)
    for (let n = 0; n < 20; n++) writeFileSync(join(outside, `private-${n}`), 'theirs')
    writeFileSync(join(outside, 'a.txt'), 'theirs')
  })
  afterEach(() => removeTree(base))

  async function whileSwapping(path: string, to: string, act: () => Promise<void>): Promise<void> {
    const swapping = spawn(process.execPath, ['-e', swapper, path, to], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(swapping.stdout, 'data')
      for (const end = performance.now() + 1_500; performance.now() < end; ) await act()
    } finally {
      swapping.kill('SIGKILL')
      await once(swapping, 'exit')
    }
  }

  it('is never what a link leads to that takes the place of a folder: a walk', async () => {
    await put(join(base, 'ws'), { 'd/a.txt': 'mine' })
    const root = (await openDirectory(join(base, 'ws')))!
    const seen = new Set<string>()
    await whileSwapping(join(base, 'ws/d'), outside, async () => {
      await walkTree(root, ({ name }) => {
        seen.add(name)
        return 'in'
      })
    })
    await root.close()
    expect([...seen].filter((name) => name.startsWith('private'))).toEqual([])
    expect(seen.has('a.txt')).toBe(true)
  })

  it('nor in a backup', async () => {
    await put(join(home, 'workspaces/t'), { 'd/a.txt': 'mine' })
    const found = new Set<string>()
    await whileSwapping(join(home, 'workspaces/t/d'), outside, async () => {
      for await (const { begin, blocks } of homeEntries(home, { withKeys: false, withWorkspaces: true, withLogs: false })) {
        let text = ''
        for await (const block of blocks) text += block
        // A link is kept as the link it is.
        found.add(begin.part === 'link' ? 'link' : `${begin.path} ${text}`)
      }
    })
    expect([...found].filter((one) => one.includes('theirs'))).toEqual([])
    expect([...found].join()).toContain('mine')
  })

  it('nor in a skill that is a link into a repository', async () => {
    await put(join(base, 'repo/skill'), { 'SKILL.md': 'mine', 'd/a.txt': 'mine' })
    const texts = new Set<string>()
    await whileSwapping(join(base, 'repo/skill/d'), outside, async () => {
      const files = await readFolder(join(base, 'repo/skill')).catch(() => [])
      for (const { content } of files) texts.add(content.toString())
    })
    expect([...texts]).toEqual(['mine'])
  })

  it('nor in a recording of a workspace that was swapped as a whole', async () => {
    await put(join(base, 'around/ws'), { 'a.txt': 'mine' })
    symlinkSync(outside, join(base, 'around/link'))
    const options = { redactor, maxBytes: 1_000_000, without: home, signal: new AbortController().signal }
    const folder = makeRecordingFolder(home, 'run_1')
    expect((await keepTree(join(base, 'around/ws'), folder, options)).files).toBe(1)
    expect(await keepTree(join(base, 'around/link'), folder, options)).toMatchObject({
      files: 0,
      leftOut: 'its folder is gone, or a link by now',
    })
  })

  it('is guarded only if it is still the folder that was looked at', async () => {
    const root = join(base, 'around/ws')
    await put(root, { 'a.txt': 'mine' })
    const mark = await placeAt(root)
    const guard = (source: string) =>
      guardWorkspace({
        ...{
          run: 'run_1',
          home,
          paths: testPaths,
          profile: { instructions: true, trusted: [] },
          enforced: true,
          user: undefined,
        },
        workspace: { source: hostPath(source), path: sandboxPath(root), mark },
        records: join(home, 'runs/run_1'),
      })
    await (await guard(root)).settle()
    execFileSync('mv', [root, `${root}.away`])
    symlinkSync(outside, root)
    await expect(guard(root)).rejects.toThrow(/was exchanged while the run began/)
    // Not one folder was made in it, of those that are reserved for a run.
    expect(readdirSync(outside)).toHaveLength(21)
  })

  it('is no reason to make folders elsewhere: what was committed where the home lies is a link', async () => {
    const root = join(base, 'repo')
    await repository(root, { 'a.txt': 'a' })
    symlinkSync(outside, join(root, '.pawl'))
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'add', '-A'])
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'link'])
    execFileSync('rm', [join(root, '.pawl')])
    const inside = join(root, '.pawl/home')
    mkdirSync(inside, { recursive: true })
    const plan = {
      original: root,
      folder: join(inside, 'workspaces'),
      task: 'tsk_1',
      owner: undefined,
      without: inside,
      paths: testPaths,
    }
    await expect(cloneWorkspace(plan)).rejects.toThrow(/has something else than a folder/)
    expect(existsSync(join(outside, 'home'))).toBe(false)
  })

  it('tells an agent no secret that it made a link to: the system prompt, if it lies in the workspace', async () => {
    const workspace = join(base, 'ws')
    await put(workspace, { 'prompts/real.md': 'be kind' })
    symlinkSync(join(outside, 'a.txt'), join(workspace, 'prompts/link.md'))
    symlinkSync(outside, join(workspace, 'elsewhere'))
    const read = (path: string, instead?: string) => readSystemPrompt(join(workspace, path), instead, workspace)
    expect(await read('prompts/real.md')).toBe('be kind')
    await expect(read('prompts/link.md', 'as before')).rejects.toThrow(/is a link or no regular file/)
    expect(await read('elsewhere/a.txt', 'as before')).toBe('as before')
    expect(await read('prompts/gone.md', 'as before')).toBe('as before')
    // A link that its user made elsewhere is theirs.
    symlinkSync(join(workspace, 'prompts/real.md'), join(home, 'prompt.md'))
    expect(await readSystemPrompt(join(home, 'prompt.md'), undefined, workspace)).toBe('be kind')
  })

  it('keeps nobody waiting: pipes, sockets, devices and endless files', async () => {
    execFileSync('mkfifo', [join(base, 'pipe')])
    symlinkSync('/dev/zero', join(base, 'zero'))
    const folder = (await openDirectory(base))!
    expect(readRegular(folder, 'pipe', 100)).toBeUndefined()
    expect(readRegular(folder, 'zero', 100)).toBeUndefined()
    await folder.close()
    for (const name of ['pipe', 'zero']) await expect(readNamedFile(join(base, name))).rejects.toThrow('no regular file')

    await put(join(home, 'workspaces/t'), { 'a.txt': 'mine', grows: '' })
    execFileSync('mkfifo', [join(home, 'workspaces/t/pipe')])
    execFileSync('truncate', ['-s', '300M', join(home, 'workspaces/t/sparse')])
    const growing = spawn(process.execPath, ['-e', grower, join(home, 'workspaces/t/grows')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      await once(growing.stdout, 'data')
      const sizes = new Map<string, number>()
      for await (const { begin, blocks } of homeEntries(home, { withKeys: false, withWorkspaces: true, withLogs: false })) {
        let size = 0
        for await (const block of blocks) size += block.length
        sizes.set(begin.path, size)
      }
      expect(sizes.get('workspaces/t/a.txt')).toBe(4)
      expect(sizes.has('workspaces/t/pipe')).toBe(false)
      expect(sizes.get('workspaces/t/grows')).toBeLessThan(2_000_000_000)
    } finally {
      growing.kill('SIGKILL')
      await once(growing, 'exit')
    }
  }, 60_000)

  it('takes few descriptors, however deep it is, and nothing deep keeps the rest from being seen', async () => {
    const tree = join(home, 'workspaces/t')
    mkdirSync(join(tree, '.agent'), { recursive: true })
    execFileSync(process.execPath, ['-e', deep, '3000'], { cwd: join(tree, '.agent') })
    await put(tree, { 'z.txt': 'seen' })
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 300; exec "$0" -e "$1"', process.execPath, fewHandles], {
      env: { TREE: tree, HOME_OF_PAWL: home, HERE: import.meta.dirname },
    })
    expect(JSON.parse(stdout)).toEqual({ isPartial: true, seen: true, backup: true, digest: true })
  }, 60_000)

  it.runIf(existsSync('/dev/shm'))(
    'is moved to quarantine on another disk whatever lies in it: what is too deep, closed, or no file does not hold the rest back',
    async () => {
      const ws = mkdtempSync('/dev/shm/pawl-agent-folders-')
      try {
        mkdirSync(join(ws, '.agent'))
        execFileSync(process.execPath, ['-e', deep, '1500'], { cwd: join(ws, '.agent') })
        await put(ws, { '.agent/settings.json': 'planted', '.agent/closed': 'planted', '.agent/folder/file': 'planted' })
        execFileSync('mkfifo', [join(ws, '.agent/pipe')])
        writeFileSync(Buffer.concat([Buffer.from(join(ws, '.agent/')), Buffer.from([0x66, 0xff])]), '')
        chmodSync(join(ws, '.agent/closed'), 0)
        chmodSync(join(ws, '.agent/folder'), 0)
        // As a plain user, who may not read what is closed.
        const plain = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
        if (plain.uid !== undefined) {
          execFileSync('chown', ['-R', '65534:65534', ws])
          chmodSync(base, 0o755)
          chownSync(home, plain.uid, plain.gid)
        }
        const { stdout } = await promisify(execFile)(
          'sh',
          ['-c', 'ulimit -n 300; exec "$0" -e "$1"', process.execPath, quarantining],
          {
            env: { WS: ws, HOME_OF_PAWL: home, HERE: import.meta.dirname },
            ...plain,
          },
        )
        expect(JSON.parse(stdout)).toEqual([])
        expect(existsSync(join(ws, '.agent'))).toBe(false)
        expect(readFileSync(join(home, 'quarantine/run_1/files/.agent/settings.json'), 'utf8')).toBe('planted')
      } finally {
        await removeTree(ws)
      }
    },
    60_000,
  )
})

const grower = `
const fs = require('fs')
const fd = fs.openSync(process.argv[1], 'a')
console.log('ready')
const block = Buffer.alloc(1 << 20)
for (let n = 0; n < 20_000; n++) { fs.writeSync(fd, block); if (n % 500 === 499) fs.ftruncateSync(fd, 1 << 20) }
setInterval(() => {}, 1000)`
const fewHandles = `
const { TREE, HOME_OF_PAWL, HERE } = process.env
const load = (path) => import(HERE + '/' + path)
Promise.all(['../../sandbox/files/walk-tree.ts', '../../sandbox/files/directory-handle.ts', '../../store/backup/home-files.ts', '../workspace/capture.ts'].map(load)).then(
  async ([{ walkTree }, { openDirectory }, { homeEntries }, { capture }]) => {
    const root = await openDirectory(TREE)
    let [seen, backup] = [false, false]
    const { isPartial } = await walkTree(root, ({ name }) => { seen ||= name === 'z.txt'; return 'in' })
    for await (const { begin } of homeEntries(HOME_OF_PAWL, { withKeys: false, withWorkspaces: true, withLogs: false }))
      backup ||= begin.path.endsWith('z.txt')
    const digest = (await capture(TREE, '.agent', { keep: true }))?.digest !== undefined
    console.log(JSON.stringify({ isPartial, seen, backup, digest }))
  })`
const quarantining = `
const { WS, HOME_OF_PAWL, HERE } = process.env
import(HERE + '/../workspace/quarantine.ts').then(async ({ quarantine }) => {
  const { failed } = await quarantine({ home: HOME_OF_PAWL, run: 'run_1', root: WS, workspace: WS }, [{ path: '.agent', runs: 'hooks' }])
  console.log(JSON.stringify(failed))
})`
