import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { link, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createToolWorld, secret, type ToolWorld } from '../testing.ts'

const untouched = { 'deep/secret.txt': secret, 'secret.txt': secret }

/** Every way to say, or to lay, a path that leads out. `OUT` is where the secret lies. */
const corpus: readonly string[] = [
  // Up, in every spelling.
  ...[
    '../outside/secret.txt',
    '../../../../../../../../etc/passwd',
    'a/../../outside/secret.txt',
    './../outside/secret.txt',
    '..',
    '../',
  ],
  ...[
    '/workspace/../outside/secret.txt',
    '/workspace/../../etc/passwd',
    'a/b/c/../../../../outside',
    '.../outside',
    '....//outside/secret.txt',
  ],
  ...[
    '..\\outside\\secret.txt',
    'a\\..\\..\\outside',
    '%2e%2e%2foutside%2fsecret.txt',
    '..%2foutside%2fsecret.txt',
    '%252e%252e%252foutside',
  ],
  ...[
    '..%c0%af..%c0%afetc/passwd',
    '%c0%ae%c0%ae/outside',
    '．．/outside/secret.txt',
    '‥/outside',
    '..;/outside/secret.txt',
    '..//..//outside//secret.txt',
  ],
  // From the top.
  ...[
    'OUT/secret.txt',
    '//OUT/secret.txt',
    '/OUT/secret.txt',
    '/etc/passwd',
    '/etc/shadow',
    '/',
    '//',
    '/workspace-other/x',
    'file:///etc/passwd',
    'file:OUT/secret.txt',
  ],
  ...['~', '~/.ssh/id_rsa', '~root/.bashrc', 'C:\\Windows\\win.ini', 'C:/Windows/win.ini', '\\\\server\\share\\x'],
  ...[
    '/proc/self/root/etc/passwd',
    '/proc/self/fd/3',
    '/proc/self/cwd/package.json',
    '/proc/self/environ',
    '/dev/stdin',
    '/dev/fd/0',
  ],
  // Names that are more than they look.
  ...[
    'secret\0.txt',
    '../outside/secret.txt\0.md',
    'a\nb',
    'a\u001bb',
    '.\u200b./outside/secret.txt',
    'sec\u202eret',
    'se\u00adcret',
    '\ud800',
  ],
  ...[
    '..\u2215outside',
    '. ./outside',
    '../outside/secret.txt.',
    '../outside/secret.txt ',
    `${'a'.repeat(256)}`,
    `${'a/'.repeat(2_500)}x`,
  ],
  ...[
    'CON',
    'nul.txt',
    'COM1',
    'lpt9.log',
    ':(top)../outside',
    ':/outside',
    '--output=../outside/x',
    '-rf',
    '$(cat ../outside/secret.txt)',
    '`id`',
  ],
  // Links that were laid in the workspace.
  ...[
    'to-file',
    'to-folder/secret.txt',
    'to-folder',
    'to-folder/deep/../secret.txt',
    'to-self',
    'to-absolute',
    'to-proc/etc/passwd',
    'chain-1',
    'up/outside/secret.txt',
    'up',
    'dots',
    'hard',
    'to-etc/passwd',
    'inner/out/secret.txt',
  ],
]

describe('a path that leads out of the workspace', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await createToolWorld()
    const { workspace: ws, outside } = world
    await world.put({ 'inside.txt': 'inside', 'inner/file.txt': 'in a folder' })
    await symlink(join(outside, 'secret.txt'), join(ws, 'to-file'))
    await symlink(outside, join(ws, 'to-folder'))
    await symlink('to-self', join(ws, 'to-self'))
    await symlink('/etc/passwd', join(ws, 'to-absolute'))
    await symlink('/etc', join(ws, 'to-etc'))
    await symlink('/proc/self/root', join(ws, 'to-proc'))
    await symlink('chain-2', join(ws, 'chain-1'))
    await symlink('inner/../to-file', join(ws, 'chain-2'))
    await symlink('..', join(ws, 'up'))
    await symlink('../outside/secret.txt', join(ws, 'dots'))
    await symlink('../../outside', join(ws, 'inner/out'))
    await link(join(outside, 'secret.txt'), join(ws, 'hard'))
  })
  afterAll(() => world.remove())

  it('is not met by a search of the whole workspace either', async () => {
    expect(await world.call('Grep', { pattern: 'lies|root|inside', output_mode: 'content' })).toBe(
      '/workspace/inside.txt:1:inside',
    )
    expect(await world.call('Glob', { pattern: '**/secret.txt' })).toBe('No file below /workspace fits **/secret.txt.')
  })

  it('is told in at least sixty ways', () => expect(new Set(corpus).size).toBeGreaterThanOrEqual(60))

  it.each(corpus.map((path) => [path.length > 60 ? `${path.slice(0, 60)}…` : path, path]))(
    '%j leads nowhere with any tool',
    async (_, written) => {
      const path = written.replace('OUT', world.outside)
      const before = (await readdir(world.base)).toSorted()
      const answers = [
        await world.call('Read', { file_path: path }),
        await world.call('ReadDocument', { file_path: path }),
        await world.call('Write', { file_path: path, content: 'planted' }),
        await world.call('Edit', { file_path: path, old_string: secret, new_string: 'planted' }),
        await world.call('MultiEdit', { file_path: path, edits: [{ old_string: 'root', new_string: 'planted' }] }),
        await world.call('LS', { path }),
        await world.call('Glob', { pattern: '**/*', path }),
        await world.call('Glob', { pattern: path.slice(0, 1_000) }),
        await world.call('Grep', { pattern: 'lies|root', path, output_mode: 'content' }),
      ]
      for (const answer of answers) {
        expect(answer).not.toContain(secret)
        expect(answer).not.toContain('root:')
        // Where things lie is nobody's business.
        if (!written.includes('OUT')) expect(answer).not.toContain(world.base)
      }
      expect(await world.outsideNow()).toEqual(untouched)
      expect((await readdir(world.base)).toSorted()).toEqual(before)
    },
  )
})

/** Puts a link in the place of a folder and of a file, and takes them away again, as fast as it can. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const [root, outside] = process.argv.slice(1)
console.log('ready')
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2)
const swap = (path, to) => { try { renameSync(path, path + '.away'); symlinkSync(to, path) } catch {} }
const back = (path) => { try { unlinkSync(path) } catch {} try { renameSync(path + '.away', path) } catch {} }
for (;;) {
  swap(root + '/d', outside); pause(); back(root + '/d'); pause()
  swap(root + '/secret.txt', outside + '/secret.txt'); pause(); back(root + '/secret.txt'); pause()
}
`

describe.runIf(process.platform === 'linux')('a link that is swapped in between look and touch', () => {
  let world: ToolWorld
  let swapping: ChildProcess
  beforeEach(async () => {
    world = await createToolWorld()
    await world.put({ 'd/secret.txt': 'ours', 'd/keep': '', 'secret.txt': 'ours' })
    swapping = spawn(process.execPath, ['-e', swapper, world.workspace, world.outside], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(swapping.stdout!, 'data')
  })
  afterEach(async () => {
    swapping.kill('SIGKILL')
    await once(swapping, 'exit')
    await world.remove()
  })

  it('leads no tool out in a thousand races', async () => {
    let done = 0
    for (let n = 0; n < 1_000; n++) {
      const file_path = n % 2 ? 'd/secret.txt' : 'secret.txt'
      const answers = await Promise.all([
        world.call('Read', { file_path }),
        world.call('Write', { file_path: n % 3 ? file_path : `d/new/${n % 5}`, content: 'ours' }),
        n % 4 === 0 ? world.call('Grep', { pattern: 'lies|ours', output_mode: 'content' }) : world.call('LS', { path: 'd' }),
      ])
      for (const answer of answers) expect(answer).not.toContain(secret)
      expect(answers[2]).not.toContain('deep')
      if (answers[0].includes('ours')) done++
    }
    expect(await world.outsideNow()).toEqual(untouched)
    expect((await readdir(world.outside)).toSorted()).toEqual(['deep', 'secret.txt'])
    expect(done).toBeGreaterThan(0)
  })
})

describe('links that stay inside', () => {
  it('are followed, as the agent sees them, and rules hear where they lead', async () => {
    const world = await createToolWorld()
    try {
      await world.put({ 'real/a.txt': 'hello' })
      await symlink('real', join(world.workspace, 'short'))
      await symlink('/workspace/real/a.txt', join(world.workspace, 'whole'))
      await symlink('/docs/guide.md', join(world.workspace, 'guide'))
      expect(await world.call('Read', { file_path: 'short/a.txt' })).toBe('     1\thello')
      expect(await world.call('Read', { file_path: 'whole' })).toBe('     1\thello')
      expect(await world.call('Read', { file_path: 'guide' })).toBe('     1\thow to')
      expect(await world.call('Write', { file_path: 'short/b.txt', content: 'b' })).toBe('Wrote /workspace/real/b.txt (1 bytes).')
      expect(await world.call('Write', { file_path: 'guide', content: 'x' })).toBe(
        'denied: /docs/guide.md is read-only in this run.',
      )
      expect(world.asked.map(({ input }) => (input as { file_path: string }).file_path)).toEqual([
        ...['/workspace/real/a.txt', '/workspace/real/a.txt', '/docs/guide.md', '/workspace/real/b.txt', '/docs/guide.md'],
      ])
    } finally {
      await world.remove()
    }
  })
})

describe('what is no file', () => {
  it('is neither waited for nor replaced', async () => {
    const world = await createToolWorld()
    try {
      execFileSync('mkfifo', [join(world.workspace, 'pipe')])
      await mkdir(join(world.workspace, 'folder'))
      for (const tool of ['Read', 'ReadDocument'] as const)
        expect(await world.call(tool, { file_path: 'pipe' })).toBe(
          'invalid: /workspace/pipe is a pipe, socket or device, not a file.',
        )
      expect(await world.call('Write', { file_path: 'pipe', content: 'x' })).toMatch(/^invalid: /)
      expect(await world.call('Write', { file_path: 'folder', content: 'x' })).toBe(
        'invalid: /workspace/folder is a folder, not a file.',
      )
      expect(await world.call('Grep', { pattern: 'x' })).toBe('Nothing below /workspace matches.')
    } finally {
      await world.remove()
    }
  })

  it('a file that has another name is replaced, and stays what it was under that name', async () => {
    const world = await createToolWorld()
    try {
      await link(join(world.outside, 'secret.txt'), join(world.workspace, 'hard'))
      expect(await world.call('Read', { file_path: 'hard' })).toMatch(/^denied: .* hard link/)
      expect(await world.call('Write', { file_path: 'hard', content: 'ours' })).toBe('Replaced /workspace/hard (4 bytes).')
      expect(await readFile(join(world.workspace, 'hard'), 'utf8')).toBe('ours')
      expect(await world.outsideNow()).toEqual(untouched)
    } finally {
      await world.remove()
    }
  })
})
