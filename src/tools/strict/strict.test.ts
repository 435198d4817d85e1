import { chmod, chown, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, test } from 'vitest'
import { hostPath, inPlace, sandboxPath } from '../../domain/base/path.ts'
import { createFetcher } from '../../sandbox/egress/fetch.ts'
import { decide, readRules } from '../../sandbox/egress/host-rule.ts'
import { createNone } from '../../sandbox/none/sandbox.ts'
import { pathRulesOf } from '../files/path-rules.ts'
import { createToolWorld, type ToolWorld } from '../testing.ts'
import { createRunInside } from './run-inside.ts'
import { createStrictTools, type StrictOptions } from './strict.ts'

const worlds: ToolWorld[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.remove()
})
async function worldWith(files: Record<string, string> = {}, options: Partial<StrictOptions> = {}): Promise<ToolWorld> {
  const world = await createToolWorld(options)
  worlds.push(world)
  await world.put(files)
  return world
}
const isRoot = process.getuid?.() === 0

describe('Read', () => {
  it('numbers the lines and reads a part of a file', async () => {
    const world = await worldWith({ 'a.txt': 'one\r\ntwo\nthree\n' })
    expect(await world.call('Read', { file_path: '/workspace/a.txt' })).toBe('     1\tone\n     2\ttwo\n     3\tthree')
    expect(await world.call('Read', { file_path: 'a.txt', offset: 2, limit: 1 })).toBe(
      '     2\ttwo\n… there is more: read on with offset 3.',
    )
    expect(await world.call('Read', { file_path: 'a.txt', offset: 9 })).toBe(
      '/workspace/a.txt has only 3 lines; there is no line 9.',
    )
  })

  it('cuts what is long, and says so', async () => {
    const world = await worldWith({ 'long.txt': `${'x'.repeat(3_000)}\n`, 'many.txt': 'line\n'.repeat(5_000), 'empty.txt': '' })
    expect(await world.call('Read', { file_path: 'long.txt' })).toBe(`     1\t${'x'.repeat(2_000)}… (the line is longer)`)
    expect(await world.call('Read', { file_path: 'many.txt' })).toMatch(
      / {2}2000\tline\n… there is more: read on with offset 2001\.$/,
    )
    expect(await world.call('Read', { file_path: 'empty.txt' })).toBe('/workspace/empty.txt is empty.')
  })

  it('refuses what is no text, what is missing, and a folder', async () => {
    const world = await worldWith({ 'a.bin': 'a\0b', 'd/x': '' })
    expect(await world.call('Read', { file_path: 'a.bin' })).toMatch(/^unsupported: \/workspace\/a\.bin is no text/)
    expect(await world.call('Read', { file_path: 'gone/x' })).toBe('not_found: /workspace/gone/x does not exist.')
    expect(await world.call('Read', { file_path: 'd' })).toBe('invalid: /workspace/d is a folder, not a file.')
  })

  it('finds a name whose accents are written apart', async () => {
    const world = await worldWith({ 'cafe\u0301.txt': 'hello' })
    expect(await world.call('Read', { file_path: 'caf\u00e9.txt' })).toBe('     1\thello')
    expect(await world.call('Read', { file_path: 'cafe\u0301.txt' })).toBe('     1\thello')
  })
})

describe('Write and Edit', () => {
  it('make folders, keep the mode, and leave nothing else behind', async () => {
    const world = await worldWith({ 'run.sh': 'old' })
    await chmod(join(world.workspace, 'run.sh'), 0o755)
    expect(await world.call('Write', { file_path: 'a/b/c.txt', content: 'né' })).toBe('Wrote /workspace/a/b/c.txt (3 bytes).')
    expect(await world.call('Write', { file_path: 'run.sh', content: 'new' })).toBe('Replaced /workspace/run.sh (3 bytes).')
    expect((await lstat(join(world.workspace, 'run.sh'))).mode & 0o777).toBe(0o755)
    expect(await world.call('Glob', { pattern: '**' })).toMatch(
      /^\/workspace\/(run\.sh|a\/b\/c\.txt)\n\/workspace\/(run\.sh|a\/b\/c\.txt)$/,
    )
  })

  it('replace a text that stands there once, or everywhere if told so', async () => {
    const world = await worldWith({ 'a.txt': 'a b a' })
    const edit = (input: object) => world.call('Edit', { file_path: 'a.txt', ...input })
    expect(await edit({ old_string: 'a', new_string: 'c' })).toMatch(
      /^conflict: old_string stands 2 times in \/workspace\/a\.txt/,
    )
    expect(await edit({ old_string: 'z', new_string: 'c' })).toMatch(/^not_found: old_string does not stand in/)
    expect(await edit({ old_string: 'b', new_string: 'b' })).toMatch(/^invalid: .* are the same/)
    expect(await edit({ old_string: 'b', new_string: '$&' })).toBe('Changed /workspace/a.txt in 1 place.')
    expect(await edit({ old_string: 'a', new_string: 'c', replace_all: true })).toBe('Changed /workspace/a.txt in 2 places.')
    expect(await readFile(join(world.workspace, 'a.txt'), 'utf8')).toBe('c $& c')
  })

  it('make all of several replacements, or none', async () => {
    const world = await worldWith({ 'a.txt': 'one two' })
    const first = { old_string: 'one', new_string: '1' }
    const edits = (second: object) => world.call('MultiEdit', { file_path: 'a.txt', edits: [first, second] })
    expect(await edits({ old_string: 'three', new_string: '3' })).toMatch(/edit 2 of 2; none was made/)
    expect(await readFile(join(world.workspace, 'a.txt'), 'utf8')).toBe('one two')
    expect(await edits({ old_string: '1 two', new_string: '12' })).toBe('Changed /workspace/a.txt in 2 places.')
    expect(await readFile(join(world.workspace, 'a.txt'), 'utf8')).toBe('12')
  })

  it('refuse to blow a file up', async () => {
    const world = await worldWith({ 'a.txt': 'a'.repeat(10_000) })
    const input = { file_path: 'a.txt', old_string: 'a', new_string: 'b'.repeat(10_000), replace_all: true }
    expect(await world.call('Edit', input)).toMatch(/^unsupported: .* would become larger/)
  })

  it('refuse a text that is not in UTF-8, which they would spoil', async () => {
    const world = await worldWith()
    await writeFile(join(world.workspace, 'latin.txt'), Buffer.from([0x63, 0xe9]))
    expect(await world.call('Edit', { file_path: 'latin.txt', old_string: 'c', new_string: 'd' })).toMatch(/^unsupported: /)
  })
})

describe.runIf(isRoot)('as root, for a user of no rights', () => {
  const user = { uid: 61_295, gid: 61_295 }

  it('what is written belongs to that user, folders too', async () => {
    const world = await worldWith({}, { user })
    await chown(world.workspace, user.uid, user.gid)
    expect(await world.call('Write', { file_path: 'new/a.txt', content: '' })).toMatch(/^Wrote/)
    const owners = await Promise.all(['new', 'new/a.txt'].map(async (name) => (await lstat(join(world.workspace, name))).uid))
    expect(owners).toEqual([user.uid, user.uid])
  })

  it('nothing is read, listed or written that the user could not', async () => {
    const world = await worldWith({ 'mine.txt': 'private', 'closed/a.txt': 'private', 'fixed.txt': 'private' }, { user })
    await chmod(join(world.workspace, 'mine.txt'), 0o600)
    await chmod(join(world.workspace, 'closed'), 0o700)
    const no = /^denied: The user that this run works as has no right/
    expect(await world.call('Read', { file_path: 'mine.txt' })).toMatch(no)
    expect(await world.call('Read', { file_path: 'closed/a.txt' })).toMatch(no)
    expect(await world.call('LS', { path: 'closed' })).toMatch(no)
    expect(await world.call('Write', { file_path: 'fixed.txt', content: '' })).toMatch(no)
    expect(await world.call('Write', { file_path: 'new.txt', content: '' })).toMatch(no)
    expect(await world.call('Grep', { pattern: 'private' })).toBe('/workspace/fixed.txt')
  })
})

describe('what is left alone', () => {
  const files = {
    '.env': 'KEY=1',
    '.Env.local': 'KEY=1',
    'x/.git/config': 'KEY=1',
    'tls.PEM': 'KEY=1',
    'node_modules/m/i.js': 'KEY=1',
    '.env.example': 'KEY=1',
  }

  it('is neither read, written, listed nor found', async () => {
    const world = await worldWith(files)
    for (const file_path of ['.env', '.ENV', '.Env.local', 'x/.git/config', 'x/.GIT/new', 'tls.PEM', 'id_rsa'])
      expect(
        await world.call(file_path.endsWith('new') ? 'Write' : 'Read', {
          file_path,
          ...(file_path.endsWith('new') && { content: '' }),
        }),
      ).toMatch(/^denied: .* is kept from these tools/)
    expect(await world.call('LS', {})).toBe('/workspace\n.env.example\nnode_modules/\nx/')
    expect(await world.call('Grep', { pattern: 'KEY' })).toBe('/workspace/.env.example')
    expect(await world.call('Grep', { pattern: 'KEY', path: 'node_modules' })).toBe('/workspace/node_modules/m/i.js')
    expect(await world.call('Read', { file_path: 'node_modules/m/i.js' })).toBe('     1\tKEY=1')
  })

  it('is not reached by a link of another name', async () => {
    const world = await worldWith(files)
    await symlink('.env', join(world.workspace, 'harmless.txt'))
    expect(await world.call('Read', { file_path: 'harmless.txt' })).toMatch(/^denied: \/workspace\/\.env is kept/)
  })

  it('is open where a rule of the profile names it', async () => {
    const world = await worldWith(files, {
      rules: pathRulesOf({ rules: { allow: ['Read', 'Read(.env)', 'Read(*.pem)'], ask: [], deny: [] } }),
    })
    expect(await world.call('Read', { file_path: '.env' })).toBe('     1\tKEY=1')
    expect(await world.call('Read', { file_path: 'tls.PEM' })).toMatch(/^denied/)
  })

  it('is what the walls cover, too', async () => {
    const masks = [
      { kind: 'nothing' as const, path: sandboxPath('/workspace/hidden') },
      { kind: 'readonly' as const, path: sandboxPath('/workspace/.vscode') },
    ]
    const world = await worldWith({ 'hidden/a': 'x', '.vscode/tasks.json': 'x', b: 'x' }, { masks })
    expect(await world.call('Read', { file_path: 'hidden/a' })).toBe('denied: /workspace/hidden/a is hidden from this run.')
    expect(await world.call('Write', { file_path: 'hidden/b', content: '' })).toMatch(/^denied/)
    expect(await world.call('Read', { file_path: '.vscode/tasks.json' })).toBe('     1\tx')
    expect(await world.call('Write', { file_path: '.vscode/new.json', content: '' })).toMatch(/^denied: .* is read-only/)
    expect(await world.call('Glob', { pattern: '**' })).not.toContain('hidden')
  })
})

describe('Grep and LS', () => {
  it('show lines with their neighbours, counts, or files', async () => {
    const world = await worldWith({ 'a.ts': '1\nfoo\n3\n4\nFoo\n', 'b.md': 'foo\n' })
    const grep = (input: object) => world.call('Grep', { pattern: 'foo', ...input })
    expect(await grep({})).toBe('/workspace/a.ts\n/workspace/b.md')
    expect(await grep({ glob: '*.ts', output_mode: 'content', '-i': true, '-B': 1 })).toBe(
      ['/workspace/a.ts-1-1', '/workspace/a.ts:2:foo', '--', '/workspace/a.ts-4-4', '/workspace/a.ts:5:Foo'].join('\n'),
    )
    expect(await grep({ type: 'ts', output_mode: 'count', '-i': true })).toBe('/workspace/a.ts:2')
    expect(await grep({ path: 'b.md', output_mode: 'content', '-n': false })).toBe('/workspace/b.md:foo')
    expect(await grep({ pattern: '(?=x)' })).toMatch(/^invalid: The pattern .* looks ahead or behind/)
  })

  it('do not show the content of what rules keep from being read', async () => {
    const world = await worldWith(
      { 'a.txt': 'foo', 'private/b.txt': 'foo' },
      { mayRead: (path) => !path.startsWith('/workspace/private/') },
    )
    expect(await world.call('Grep', { pattern: 'foo' })).toBe('/workspace/a.txt')
  })

  it('see a folder that is mounted inside the workspace', async () => {
    const world = await worldWith({ 'a.txt': 'foo' })
    const roots = [
      { source: hostPath(world.workspace), path: sandboxPath('/workspace'), mode: 'rw' },
      { source: hostPath(world.outside), path: sandboxPath('/workspace/more'), mode: 'ro' },
    ] as const
    const other = await worldWith({}, { roots: [...roots] })
    expect(await other.call('LS', {})).toBe('/workspace\na.txt\nmore/')
    expect(await other.call('Grep', { pattern: 'lies', path: '/workspace' })).toBe(
      '/workspace/more/secret.txt\n/workspace/more/deep/secret.txt',
    )
    expect(await other.call('Write', { file_path: 'more/x', content: '' })).toBe(
      'denied: /workspace/more/x is read-only in this run.',
    )
  })
})

describe('permission', () => {
  it('is asked before every call, and what is refused does not happen', async () => {
    const world = await worldWith(
      {},
      { permit: async ({ tool }) => ({ allow: false, message: `Denied: ${tool}. Sandbox policy: on.` }) },
    )
    expect(await world.call('Write', { file_path: 'a', content: '' })).toBe(
      'denied: Denied: mcp__pawl__Write. Sandbox policy: on.',
    )
    expect(await world.call('AskUserQuestion', { questions: [{ question: 'q' }] })).toMatch(/^denied/)
    expect(await world.call('Read', { file_path: 'a' })).toMatch(/^denied/)
    expect(world.questions).toEqual([])
  })
})

describe('what is offered', () => {
  it('leaves out what the profile disables and what has nothing to work with', async () => {
    const all = ['Read', 'ReadDocument', 'Write', 'Edit', 'MultiEdit', 'Glob', 'Grep', 'LS', 'AskUserQuestion']
    expect((await worldWith()).names()).toEqual(all)
    const runInside = async () => ({ stdout: '', stderr: '', code: 0, signal: null, timedOut: false })
    expect((await worldWith({}, { runInside, disabled: ['MultiEdit', 'mcp__pawl__LS', 'Read*'] })).names()).toEqual([
      'Write',
      'Edit',
      'Glob',
      'Grep',
      'Bash',
      'AskUserQuestion',
    ])
  })

  it('is nothing where a root is missing', async () => {
    const roots = [{ source: hostPath('/nowhere/at/all'), path: sandboxPath('/workspace'), mode: 'rw' }] as const
    await expect(createStrictTools({ roots: [...roots], permit: async () => ({ allow: true }) })).rejects.toThrow(
      /The folder \/workspace of this run is not there/,
    )
  })
})

describe('Bash', () => {
  const sandbox = createNone()
  async function worldWithShell() {
    const world = await worldWith()
    const { workspace } = world
    const home = join(world.base, 'home')
    await mkdir(home)
    const runInside = createRunInside(async (command) => {
      const walled = await sandbox.launch(
        { ...command, env: {} },
        {
          ...{
            unit: sandbox.killUnit(`bash-${process.pid}`, 1),
            workspace: inPlace(workspace),
            home: hostPath(home),
            hidden: [],
          },
          ...{ network: 'none' as const, door: false, limits: { processes: 100, openFiles: 100 } },
        },
      )
      return walled.child
    })
    return worldWith({}, { runInside, roots: [{ source: hostPath(workspace), path: sandboxPath('/workspace'), mode: 'rw' }] })
  }

  it('answers with what a command printed and how it ended, in paths that the user knows', async () => {
    const world = await worldWithShell()
    expect(await world.call('Bash', { command: 'pwd; echo no >&2; exit 3' })).toBe('/workspace\nno\nExit code 3.')
    expect(await world.call('Bash', { command: 'true' })).toBe('Done; it printed nothing.')
    expect(await world.call('Bash', { command: 'cat' })).toBe('Done; it printed nothing.')
    expect(await world.call('Bash', { command: 'x', run_in_background: true })).toMatch(/^unsupported: /)
  })

  it('keeps the beginning and the end of a flood', async () => {
    const world = await worldWithShell()
    const answer = await world.call('Bash', { command: 'echo first; head -c 5000000 /dev/zero | tr "\\0" x; echo; echo last' })
    expect(answer).toMatch(/^first\n[\s\S]*left out …[\s\S]*\nlast$/)
    expect(answer.length).toBeLessThan(31_000)
  })

  it('ends what takes too long, and what nobody waits for any more', async () => {
    const world = await worldWithShell()
    expect(await world.call('Bash', { command: 'echo begun; sleep 60', timeout: 300 })).toBe(
      'begun\nThe command was ended because it took longer than 300 ms.',
    )
    const gone = new AbortController()
    const call = world.call('Bash', { command: 'sleep 60' }, { signal: gone.signal })
    gone.abort()
    expect(await call.catch((error: Error) => error.name)).toMatch(/AbortError|SIGTERM/)
  })
})

describe('WebFetch', () => {
  it('reads a page as text, by the rules of the network', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<title>T</title><script>no()</script><p>Hello &amp; <b>good</b> day<!-- no --></p>')
    })
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
    try {
      const { port } = server.address() as AddressInfo
      const rules = readRules({ allow: [`127.0.0.1:${port}`], ask: [], deny: [] })
      const world = await worldWith({}, { fetch: createFetcher({ decide: (host, at) => decide(rules, host, at) }) })
      expect(await world.call('WebFetch', { url: `http://127.0.0.1:${port}/` })).toBe(
        `http://127.0.0.1:${port}/ answered 200 (text/html):\n\nT\n\nHello & good day`,
      )
      expect(await world.call('WebFetch', { url: 'http://169.254.169.254/' })).toMatch(/^denied/)
      expect(await world.call('WebFetch', { url: 'file:///etc/passwd' })).toMatch(/^invalid/)
    } finally {
      server.close()
    }
  })
})

test('AskUserQuestion stores each question with its options', async () => {
  const world = await worldWith()
  const options = [{ label: 'Red', description: 'warm' }, { label: 'Blue' }]
  expect(await world.call('AskUserQuestion', { questions: [{ question: 'Which colour?', header: 'Look', options }] })).toMatch(
    /End your turn now/,
  )
  expect(world.questions).toEqual([{ kind: 'free', text: 'Look: Which colour?', options: ['Red: warm', 'Blue'] }])
})
