import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWalledWorld, starters, type WalledWorld } from '../../../test/contracts/walled-world.ts'
import { hostPath, inPlace, type SandboxPath, sandboxPath } from '../../domain/base/path.ts'

describe.each(starters)('what an agent sees that %s started', (starter) => {
  let world: WalledWorld
  beforeAll(() => {
    world = createWalledWorld(starter)
  })
  afterAll(() => world.remove())
  const lines = async (...given: Parameters<WalledWorld['run']>) => (await world.run(...given)).out.trim().split('\n')
  /** All that is in the workspace, with kinds and sizes. */
  const tree = () => execFileSync('find', [world.workspace, '-printf', '%P %y %s\n'], { encoding: 'utf8' })

  test('the programs and settings of the machine, and nothing else of it', async () => {
    const home = [
      '/home',
      '/root',
      '/srv',
      '/mnt',
      '/media',
      '/boot',
      '/data',
      '/var/lib/dpkg',
      '/var/log',
      '/sys/kernel',
      '/sys/class',
    ]
    const shown = await lines(
      `ls /; echo =; for p in ${home.join(' ')}; do ls -A $p 2>/dev/null; done; echo nothing; echo =; cat /etc/shadow /etc/gshadow 2>/dev/null; ls /run /var/run/; wc -l < /etc/passwd; command -v git`,
    )
    const nodes = process.execPath.split('/')[1] ?? ''
    const known = [
      'bin',
      'dev',
      'etc',
      'lib',
      'lib32',
      'lib64',
      'libx32',
      'nix',
      'gnu',
      'snap',
      'opt',
      'proc',
      'run',
      'sbin',
      'sys',
      'tmp',
      'usr',
      'var',
    ]
    const [root, others, rest] = shown.join('\n').split('\n=\n')
    expect(root?.split('\n').filter((name) => ![...known, nodes].includes(name))).toEqual([])
    expect(others).toBe('nothing')
    expect(rest).toMatch(/^\/run:\n\n\/var\/run\/:\n\d+\n\/usr\/bin\/git$/)
  })

  test('nothing is writable but the workspace, the home, and rooms that are gone at the end', async () => {
    const places = [
      world.workspace,
      world.home,
      '/tmp',
      '/var/tmp',
      '/run',
      '/dev/shm',
      '/',
      '/usr',
      '/etc',
      '/dev',
      '/var',
      '/opt',
    ]
    const writable = await lines(`for p in ${places.join(' ')}; do touch $p/canary 2>/dev/null && echo $p; done`)
    expect(writable).toEqual([world.workspace, world.home, '/tmp', '/var/tmp', '/run', '/dev/shm'])
    expect(existsSync('/tmp/canary') || existsSync('/run/canary')).toBe(false)
    await world.run('rm canary $HOME/canary')
  })

  test('the devices are the harmless ones, and the machine has no name', async () => {
    const devices = await lines('ls /dev; hostname; cat /proc/sys/kernel/hostname; ls -A /proc/1')
    const harmless = [
      'core',
      'fd',
      'full',
      'null',
      'ptmx',
      'pts',
      'random',
      'shm',
      'stderr',
      'stdin',
      'stdout',
      'tty',
      'urandom',
      'zero',
    ]
    expect(devices).toEqual([...harmless, 'localhost', 'localhost'])
  })

  test('processes, shared memory and names are its own, not those of the machine', async () => {
    const kinds = ['pid', 'ipc', 'uts']
    const inside = await lines(`for kind in ${kinds.join(' ')}; do readlink /proc/self/ns/$kind; done`)
    expect(inside.map((space) => space.split(':')[0])).toEqual(kinds)
    const outside = kinds.map((kind) => readlinkSync(`/proc/self/ns/${kind}`))
    expect(inside.filter((space) => outside.includes(space))).toEqual([])
  })

  test('a mount is seen where it was asked for, read-only or writable, and a file is mounted like a folder', async () => {
    const data = world.place('data')
    world.file('data/known.txt', 'known')
    const note = world.file('note.txt', 'a note')
    const cache = world.place('cache')
    const mounts = [
      { source: hostPath(data), path: sandboxPath('/data/known'), mode: 'ro' },
      { source: hostPath(note), path: sandboxPath('/srv/note.txt'), mode: 'ro' },
      { ...inPlace(cache), mode: 'rw' },
    ] as const
    const script = `cat /data/known/known.txt /srv/note.txt; touch /data/known/x /srv/note.txt 2>/dev/null || echo; touch ${cache}/made; ls /data /srv`
    expect((await world.run(script, { mounts })).out).toBe('knowna note\n/data:\nknown\n\n/srv:\nnote.txt\n')
    expect([existsSync(join(cache, 'made')), existsSync(join(data, 'x'))]).toEqual([true, false])
  })

  test('one path that is asked for twice is laid once, writable if anybody asked for that', async () => {
    const twice = world.place('twice')
    const mount = (mode: 'ro' | 'rw') => ({ source: hostPath(twice), path: sandboxPath('/twice'), mode })
    const script = 'grep -c " /twice " /proc/self/mountinfo; touch /twice/x 2>/dev/null && echo writable; rm -f /twice/x'
    expect(await lines(script, { mounts: [mount('rw'), mount('ro'), mount('ro')] })).toEqual(['1', 'writable'])
    expect(await lines(script, { mounts: [mount('ro'), mount('ro')] })).toEqual(['1'])
    const { err } = await world.run('true', { mounts: [mount('ro'), { ...mount('ro'), source: hostPath(world.place('other')) }] })
    expect(err).toMatch(/Both ".*twice" and ".*other" are to be seen at "\/twice"/)
  })

  test.each([
    [
      'a source that is missing',
      (w: WalledWorld) => ({ source: join(w.folder, 'gone'), path: '/x' }),
      /nothing at the source; create it/,
    ],
    ['a place of the walls', (w: WalledWorld) => ({ source: w.home, path: '/usr' }), /belongs to the walls/],
    ['a path that climbs', (w: WalledWorld) => ({ source: w.home, path: '/x/../usr' }), /not absolute and plain/],
    [
      'a place missing in the workspace',
      (w: WalledWorld) => ({ source: w.home, path: join(w.workspace, 'no') }),
      /no such place in/,
    ],
    ['what Pawl keeps', (w: WalledWorld) => ({ source: w.place('store'), path: '/store' }), /what Pawl itself keeps/],
  ])('a mount is refused for %s, and nothing is left of the try', async (_, mount, refusal) => {
    const before = tree()
    const { err, code } = await world.run('true', {
      // As it was written: a path that was made by `sandboxPath` never climbs.
      mounts: [{ source: hostPath(mount(world).source), path: mount(world).path as SandboxPath, mode: 'ro' }],
      hidden: [hostPath(join(world.folder, 'store'))],
    })
    expect([code, err]).toEqual([1, expect.stringMatching(refusal)])
    expect(tree()).toBe(before)
  })

  test('what is hidden stays hidden where its folder is mounted under another path', async () => {
    world.file('people/diary.txt', 'dear')
    world.file('people/.pawl/token', 'secret')
    const changes = {
      hidden: [hostPath(join(world.folder, 'people/.pawl'))],
      mounts: [{ source: hostPath(join(world.folder, 'people')), path: sandboxPath('/people'), mode: 'ro' }] as const,
    }
    expect((await world.run('cat /people/diary.txt /people/.pawl/* 2>/dev/null', changes)).out).toBe('dear')
  })

  test('masks hide, protect and replace, also what lies in each other, and cannot be moved away with their folder', async () => {
    world.file('project/.git/config', 'config')
    world.file('project/.git/hooks/pre-commit', 'hook')
    world.file('project/.mcp.json', 'servers')
    world.file('project/deep/er/.npmrc', 'token')
    world.file('project/free.txt', 'free')
    const instead = world.file('instead.txt', 'ours')
    const at = (path: string) => sandboxPath(join(world.workspace, path))
    const masks = [
      { kind: 'readonly', path: at('.git/config') },
      { kind: 'nothing', path: at('.git/hooks') },
      { kind: 'nothing', path: at('.mcp.json') },
      { kind: 'instead', path: at('deep/er/.npmrc'), source: hostPath(instead) },
    ] as const
    const before = tree()
    const tries = [
      'cat .git/config; ls .git/hooks; cat .mcp.json; cat deep/er/.npmrc; cat free.txt',
      'for p in .git/config .git/hooks/x .mcp.json deep/er/.npmrc; do echo x 2>/dev/null > $p && echo wrote $p; done',
      'for p in .git .git/config .git/hooks .mcp.json deep deep/er; do mv $p moved 2>/dev/null && echo moved $p; rm -rf moved; rm -rf $p 2>/dev/null && echo removed $p; done',
      'echo new > .git/index.lock && mv .git/index.lock .git/index && rm .git/index && echo index',
    ]
    expect((await world.run(`{ ${tries.join('; ')}; } 2>/dev/null`, { masks })).out).toBe('configoursfreeindex\n')
    expect(tree()).toBe(before)
    expect(readFileSync(at('.mcp.json'), 'utf8')).toBe('servers')
  })

  test('a mask that forbids writing does not bring back what is hidden below it, nor closes the home that lies there', async () => {
    world.file('project/kept/seen.txt', 'seen')
    world.file('project/kept/.pawl/token', 'secret')
    const home = world.place('project/kept/.pawl/homes/one')
    const changes = {
      home: hostPath(home),
      hidden: [hostPath(join(world.workspace, 'kept/.pawl'))],
      masks: [{ kind: 'readonly', path: sandboxPath(join(world.workspace, 'kept')) }] as const,
    }
    const script = 'cat kept/seen.txt kept/.pawl/token; touch kept/x || touch "$HOME/made" && ls kept/.pawl/homes/one'
    expect((await world.run(`{ ${script}; } 2>/dev/null`, changes)).out).toBe('seenmade\n')
  })

  test('where the agent may not go itself no mask is needed, and none opens the way', async () => {
    world.file('project/closed/deep/.npmrc', 'token')
    if (starter === 'root') for (const path of ['closed/deep', 'closed']) chownSync(join(world.workspace, path), 0, 0)
    chmodSync(join(world.workspace, 'closed'), starter === 'root' ? 0o700 : 0o000)
    const masks = [{ kind: 'readonly', path: sandboxPath(join(world.workspace, 'closed/deep/.npmrc')) }] as const
    const { out, err } = await world.run('cat closed/deep/.npmrc 2>/dev/null || echo closed', { masks })
    expect([out, err]).toEqual(['closed\n', ''])
    chmodSync(join(world.workspace, 'closed'), 0o700)
  })

  test('a mask over nothing, or through a link, is refused and leaves nothing', async () => {
    symlinkSync('/etc', join(world.workspace, 'link'))
    const before = tree()
    const mask = async (path: string) =>
      (await world.run('true', { masks: [{ kind: 'nothing', path: sandboxPath(join(world.workspace, path)) }] })).err
    expect(await mask('.claude/settings.json')).toMatch(/no such path, and a place for it would stay/)
    expect(await mask('link/passwd')).toMatch(/"[^"]*link" is a link/)
    expect(await mask('link')).toMatch(/"[^"]*link" is a link/)
    expect((await world.run('true', { masks: [{ kind: 'nothing', path: sandboxPath('/srv/x') }] })).err).toMatch(
      /nothing of the machine/,
    )
    expect(tree()).toBe(before)
  })
})
