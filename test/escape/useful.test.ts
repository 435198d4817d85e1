import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lchownSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentCodePaths } from '../../src/agents/index.ts'
import { hostPath, sandboxPath } from '../../src/domain/base/path.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import { commonCodePaths } from '../../src/domain/workspace/code-paths.ts'
import { type Guard, guardWorkspace } from '../../src/engine/workspace/guard.ts'
import { proxyEnvironment } from '../../src/sandbox/egress/environment.ts'
import { startWebServer } from '../../src/sandbox/egress/testing.ts'
import { user, type WalledPlace, walledPlace } from './walled-door.ts'

let place: WalledPlace
let guard: Guard
const at = (path: string) => join(place.workspace, path)
const put = (path: string, content: string, mode = 0o644) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), content, { mode })
}
const identity = {
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@example.com',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.com',
}
const hostGit = (...args: string[]) =>
  execFileSync('git', ['-c', 'safe.directory=*', '-C', place.workspace, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...identity },
  })

beforeEach(async () => {
  place = walledPlace()
  put('readme', 'hello\n')
  hostGit('init', '-q', '-b', 'main')
  put('.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n', 0o755)
  hostGit('add', '-A')
  hostGit('commit', '-q', '--no-verify', '-m', 'first')
})
afterEach(async () => {
  await guard?.settle()
  place.remove()
})

/** Runs a script as an agent of the guarded profile would: masks, door, proxy. */
async function work(
  script: string,
  wayOut: Parameters<WalledPlace['run']>[1] = {},
  env: Record<string, string> = {},
): Promise<string> {
  if (user)
    for (const path of ['.', ...(readdirSync(place.workspace, { recursive: true }) as string[])])
      lchownSync(at(path), user.uid, user.gid)
  const home = join(place.base, 'store')
  mkdirSync(home, { recursive: true })
  guard = await guardWorkspace({
    run: 'run_1',
    home,
    workspace: { source: hostPath(place.workspace), path: sandboxPath(place.workspace), guardFile: undefined },
    paths: [...commonCodePaths, ...agentCodePaths],
    profile: builtinProfiles.guarded,
    enforced: true,
    user,
    records: join(place.base, 'records'),
  })
  const walls = { masks: guard.masks, mounts: guard.mounts, hidden: [hostPath(home)] }
  const result = await place.run(
    { file: 'sh', args: ['-ec', script], env: { ...identity, ...proxyEnvironment(), ...env }, walls },
    wayOut,
  )
  expect({ ...result, out: '' }).toMatchObject({ code: 0, ...(result.code === 0 ? {} : { err: '' }) })
  return result.out
}

describe('inside the guarded walls an agent still', () => {
  it('commits, although there is a hook', async () => {
    expect(await work('echo b > b; git add -A; git commit -qm second; git log --format=%s')).toBe('second\nfirst\n')
    expect(hostGit('log', '--format=%s')).toBe('first\n')
    await guard.settle()
    expect(hostGit('log', '--format=%s')).toBe('second\nfirst\n')
  })

  it('works in another worktree and merges it', async () => {
    const script =
      'git worktree add -q wt -b side; cd wt; echo w > w; git add w; git commit -qm side; cd ..; git merge -q side; git log --format=%s -1'
    expect(await work(script)).toBe('side\n')
  })

  it('adds a submodule from the disk', async () => {
    const script =
      'git init -q -b main "$TMPDIR/lib"; git -C "$TMPDIR/lib" commit -q --allow-empty -m lib; git -c protocol.file.allow=always clone -q "$TMPDIR/lib" lib; git -c advice.addEmbeddedRepo=false add lib; git commit -qm lib; git ls-files -s lib'
    expect(await work(script)).toMatch(/^160000 /)
  })

  it('sees a clean status where hooks are links', async () => {
    rmSync(at('.git/hooks'), { recursive: true })
    put('scripts/pre-commit', '#!/bin/sh\nexit 1\n', 0o755)
    symlinkSync('../scripts', at('.git/hooks'))
    hostGit('add', '-A')
    hostGit('commit', '-q', '--no-verify', '-m', 'hooks')
    expect(await work('git status --porcelain; git stash list; git diff --stat; echo done')).toBe('done\n')
  })

  it('runs tests', async () => {
    put('a.test.mjs', "import test from 'node:test'\nimport assert from 'node:assert'\ntest('one', () => assert.equal(1, 1))\n")
    expect(await work('node --test a.test.mjs')).toMatch(/pass 1/)
  })

  it('debugs a program', async () => {
    put('main.mjs', 'console.log(40 + 2)\n')
    const script =
      "node --inspect-brk=127.0.0.1:0 main.mjs 2> log & for i in $(seq 100); do grep -q 'ws://' log && break; sleep 0.05; done; port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' log | head -n 1); node -e \"fetch('http://127.0.0.1:$port/json/list').then((r) => r.json()).then((l) => console.log(l[0].type))\"; kill $!"
    expect(await work(script)).toBe('node\n')
  })

  it('serves on its own loopback, in the background, and asks itself', async () => {
    put(
      'server.mjs',
      "import { createServer } from 'node:http'\nconst s = createServer((q, r) => r.end('own')).listen(0, '127.0.0.1', () => console.log(s.address().port))\n",
    )
    const script =
      "node server.mjs > port & while [ ! -s port ]; do sleep 0.05; done; node -e \"fetch('http://127.0.0.1:' + require('fs').readFileSync('port', 'utf8').trim()).then((r) => r.text()).then(console.log)\"; kill $!"
    expect(await work(script)).toBe('own\n')
  })

  it('talks over a unix socket in its own tmp', async () => {
    const script = `node -e "const n = require('net'); const s = n.createServer((c) => c.end('hi')).listen(process.env.TMPDIR + '/s', () => n.connect(process.env.TMPDIR + '/s').on('data', (d) => console.log(String(d))).on('close', () => s.close()))"`
    expect(await work(script)).toBe('hi\n')
  })

  it('installs a package through the proxy', async () => {
    const tarball = tar({
      'package/package.json': '{"name":"tiny","version":"1.0.0","main":"i.js"}',
      'package/i.js': 'module.exports = 7\n',
    })
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const registry = await startWebServer((request, response) => {
      if (request.url?.endsWith('.tgz')) return void response.end(tarball)
      const dist = { tarball: `http://registry.example:${registry.port}/tiny.tgz`, integrity }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          name: 'tiny',
          'dist-tags': { latest: '1.0.0' },
          versions: { '1.0.0': { name: 'tiny', version: '1.0.0', main: 'i.js', dist } },
        }),
      )
    })
    try {
      put('package.json', '{"name":"x","version":"1.0.0"}')
      const wayOut = { allow: [`registry.example:${registry.port} local`], resolve: async () => ['127.0.0.1'] }
      const npm = `npm install --no-audit --no-fund --no-update-notifier --registry http://registry.example:${registry.port}/ tiny`
      expect(await work(`${npm} > /dev/null; node -p "require('tiny')"`, wayOut)).toBe('7\n')
    } finally {
      await registry.close()
    }
  })

  it('fetches an allowed page through the proxy with Node and with curl if there is one', async () => {
    const server = await startWebServer((_, response) => void response.end('page'))
    try {
      const wayOut = { allow: [`site.example:${server.port} local`], resolve: async () => ['127.0.0.1'] }
      const url = `http://site.example:${server.port}/`
      const script = `${process.execPath} -e "fetch('${url}').then((r) => r.text()).then(console.log)"; if command -v curl > /dev/null; then curl -fsS ${url}; else printf page; fi`
      expect(await work(script, wayOut)).toBe('page\npage')
    } finally {
      await server.close()
    }
  })

  it('writes in its workspace, its home and its tmp, and large files too', async () => {
    await work('echo a > made; echo b > "$HOME/made"; echo c > "$TMPDIR/made"; head -c 52428800 /dev/zero > large')
    expect([existsSync(at('made')), statSync(at('large')).size]).toEqual([true, 52_428_800])
  })

  it('uses make, scripts and pipes', async () => {
    put('run.sh', '#!/bin/sh\nprintf "%s\\n" one two | sort -r | head -n 1\n', 0o755)
    put('Makefile', 'all:\n\t@./run.sh\n')
    expect(await work('if command -v make > /dev/null; then make -s; else ./run.sh; fi')).toBe('two\n')
  })

  it('runs perl, and python with a virtual environment where there is one', async () => {
    const script =
      'perl -e "print 6 * 7"; if /usr/bin/python3 -c "import venv, ensurepip" 2> /dev/null; then /usr/bin/python3 -m venv --without-pip v && v/bin/python -c "print(1)"; else echo 1; fi'
    expect(await work(script)).toBe('421\n')
  })

  it('reads certificates, headers, time zones and its own processes', async () => {
    const script =
      "ls /etc/ssl > /dev/null; cat /etc/os-release > /dev/null; TZ=Europe/Zurich date +%Z; node -e \"console.log(new Date(0).toLocaleString('en', { timeZone: 'Asia/Tokyo' }).length > 5)\"; for p in /proc/[0-9]*; do echo $p; done | wc -l"
    expect(await work(script)).toMatch(/^CES?T\ntrue\n\d+\n$/)
  })

  it('has Node and npm', async () => {
    expect(await work('node --version; npm --version')).toMatch(/^v\d+\.\d+.*\n\d+\.\d+/)
  })

  it('knows who it is and what machine this is', async () => {
    expect(
      await work(
        'id -u; uname -s; node -p "os.cpus().length > 0 && os.networkInterfaces() !== undefined"; getent hosts localhost | wc -l',
      ),
    ).toMatch(/^\d+\nLinux\ntrue\n1\n$/)
  })
})

/** A gzipped archive of small files. */
function tar(files: Record<string, string>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512)
    header.write(name, 0)
    for (const [text, offset] of [
      ['0000644\0', 100],
      ['0000000\0', 108],
      ['0000000\0', 116],
      [`${content.length.toString(8).padStart(11, '0')}\0`, 124],
      ['00000000000\0', 136],
      ['        ', 148],
      ['0', 156],
      ['ustar\x0000', 257],
    ] as const)
      header.write(text, offset)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    const body = Buffer.alloc(Math.ceil(content.length / 512) * 512)
    body.write(content)
    return [header, body]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}
