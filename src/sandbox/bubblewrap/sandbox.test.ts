import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sandboxContract } from '../../../test/contracts/sandbox.ts'
import { hostPath, inPlace, sandboxPath } from '../../domain/base/path.ts'
import { type Command, LaunchInterrupted, type Walled, type Walls } from '../port.ts'
import { childrenOf } from '../process/identity.ts'
import { createBubblewrap } from './sandbox.ts'

const bubblewrap = createBubblewrap()
sandboxContract('bubblewrap', bubblewrap, { enforced: true })

const nobody = { uid: 65534, gid: 65534 }
sandboxContract('bubblewrap', createBubblewrap({ user: nobody }), { enforced: true, ahead: true })

const user = process.getuid?.() === 0 ? nobody : undefined
let base: string
let walls: Walls
let runs = 0

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pawl-bwrap-'))
  chmodSync(base, 0o700)
  const workspace = ownPlace('project')
  walls = {
    unit: bubblewrap.killUnit(`pawl-bwrap-${process.pid}-${++runs}`, 1),
    workspace: inPlace(workspace),
    home: hostPath(ownPlace('homes/one')),
    hidden: [],
    user,
    network: 'none',
    door: false,
    limits: { processes: 64, openFiles: 100 },
  }
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function ownPlace(path: string): string {
  mkdirSync(join(base, path), { recursive: true })
  if (user) chownSync(join(base, path), user.uid, user.gid)
  return join(base, path)
}
const shell = (script: string): Command => ({ file: 'sh', args: ['-c', script], env: {} })
async function output(command: Command, changes: Partial<Walls> = {}): Promise<string> {
  const { child } = await bubblewrap.launch(command, { ...walls, ...changes })
  child.stderr.resume()
  const out = await text(child.stdout)
  await child.stop({ graceMs: 0 })
  return out
}

test('a workspace that is a copy is seen at the path of the original', async () => {
  const source = ownPlace('copies/one')
  writeFileSync(join(source, 'where.txt'), 'the copy')
  writeFileSync(join(walls.workspace.path, 'where.txt'), 'the original')
  const out = await output(shell('pwd; cat where.txt; ls ..'), {
    workspace: { source: hostPath(source), path: walls.workspace.path },
  })
  expect(out).toBe(`${walls.workspace.path}\nthe copyhomes\nproject\n`)
})

test('a place below a closed directory may be called anything', async () => {
  for (const name of [
    'with a space',
    'tab\there',
    'line\nbreak',
    'back\\slash \\040',
    '#hash',
    'ü\u00a0\u3000 none',
    "quote'$(id)`",
  ]) {
    const path = ownPlace(join('odd', name))
    writeFileSync(join(path, 'mine.txt'), name)
    expect(
      await output(shell('cat mine.txt; touch made'), { workspace: { source: hostPath(path), path: sandboxPath(path) } }),
    ).toBe(name)
    expect(readdirSync(path)).toEqual(['made', 'mine.txt'])
  }
})

test('our store inside a workspace is hidden although the workspace is not, and the home inside the store is there', async () => {
  const home = ownPlace('project/.pawl/homes/one')
  writeFileSync(join(base, 'project/.pawl/token'), 'secret')
  writeFileSync(join(base, 'project/seen.txt'), '')
  const out = await output(shell('find . | sort; touch .pawl/made "$HOME/made"; ls "$HOME"'), {
    home: hostPath(home),
    hidden: [hostPath(join(base, 'project/.pawl'))],
  })
  expect(out).toBe('.\n./.pawl\n./.pawl/homes\n./.pawl/homes/one\n./seen.txt\nmade\n')
})

test('a hidden file is empty', async () => {
  writeFileSync(join(walls.workspace.path, 'key'), 'secret')
  expect(await output(shell('cat key; ls'), { hidden: [hostPath(join(walls.workspace.path, 'key'))] })).toBe('key\n')
})

test('a program below a closed directory runs, by its link too, and what lies beside its directory stays closed', async () => {
  mkdirSync(join(base, 'tools/bin'), { recursive: true })
  mkdirSync(join(base, 'links'))
  writeFileSync(join(base, 'tools/private.txt'), 'private')
  writeFileSync(join(base, 'tools/bin/word.txt'), 'beside')
  writeFileSync(join(base, 'tools/bin/agent'), '#!/bin/sh\ncat "$(dirname "$0")/word.txt" "$(dirname "$0")/../private.txt"\n', {
    mode: 0o755,
  })
  symlinkSync('../tools/bin/agent', join(base, 'links/agent'))
  expect(await output({ file: join(base, 'links/agent'), args: [], env: {} })).toBe('beside')
  expect(await output({ file: 'agent', args: [], env: { PATH: `${join(base, 'links')}:/usr/bin:/bin` } })).toBe('beside')
})

test.each([false, true])(
  'what is to be loaded or run first is so in the agent alone, not in what starts it (door: %s)',
  async (door) => {
    const trace = join(walls.workspace.path, 'trace')
    const profile = join(walls.workspace.path, 'profile')
    writeFileSync(profile, 'echo sourced')
    // The loader writes a file for each program that it is told to trace.
    const env = {
      ...{ LD_DEBUG: 'files', LD_DEBUG_OUTPUT: trace, LD_LIBRARY_PATH: '/nowhere', NODE_OPTIONS: '--require /nowhere' },
      ...{
        ENV: profile,
        BASH_ENV: profile,
        SHELLOPTS: 'xtrace',
        PS4: '$(echo ran >&2)',
        OPENSSL_CONF: '/nowhere',
        PAWL_KEPT_X: 'x',
      },
    }
    expect((await output({ file: 'env', args: [], env }, { door })).split('\n')).toEqual(
      expect.arrayContaining(Object.entries(env).map(([name, value]) => `${name}=${value}`)),
    )
    const loaded = readdirSync(walls.workspace.path)
      .filter((name) => name.startsWith('trace.'))
      .map((name) => /initialize program: (.+)/.exec(readFileSync(join(walls.workspace.path, name), 'utf8'))?.[1])
    expect(loaded.map((path) => basename(path ?? ''))).toEqual(['env'])
  },
)

test.each([false, true])('the agent ignores no signal that we ignore (door: %s)', async (door) => {
  const ignored = await output({ file: 'grep', args: ['SigIgn', '/proc/self/status'], env: { LD_BIND_NOW: '1' } }, { door })
  expect(ignored).toBe('SigIgn:\t0000000000000000\n')
})

test('a program is called by the name of its link, also where the folder of that link is a link', async () => {
  mkdirSync(join(base, 'project/bin'))
  writeFileSync(join(base, 'project/bin/many'), '#!/bin/sh\necho "$0"\n', { mode: 0o755 })
  symlinkSync('many', join(base, 'project/bin/one'))
  symlinkSync('bin', join(base, 'project/tools'))
  const path = join(walls.workspace.path, 'bin/one')
  expect(await output({ file: './tools/one', args: [], env: {} })).toBe(`${path}\n`)
  expect(await output({ file: '/bin/sh', args: ['-c', 'echo $0'], env: {} })).toMatch(/\/sh\n$/)
})

test('a script that lies directly in a closed directory does not open it', async () => {
  writeFileSync(join(base, 'private.txt'), 'private')
  writeFileSync(join(base, 'agent'), `#!/bin/sh\necho ran; cat ${base}/private.txt; ls ${base}\n`, { mode: 0o755 })
  expect(await output({ file: join(base, 'agent'), args: [], env: {} })).toBe('ran\nagent\nhomes\nproject\n')
})

test('the door opens although Node itself lies in a directory that the agent may not enter', () => {
  const node = join(base, 'runtime/node')
  mkdirSync(dirname(node))
  try {
    linkSync(process.execPath, node)
  } catch {
    // Another file system or another owner.
    copyFileSync(process.execPath, node)
  }
  const supervisor = fileURLToPath(new URL('../../../test/contracts/sandbox-supervisor.ts', import.meta.url))
  const script = 'echo "$PAWL_DOOR_URL"; node -p process.execPath; command -v node'
  const command = { ...shell(script), env: { PATH: '/usr/bin:/bin' } }
  const argument = JSON.stringify({ name: 'bubblewrap', command, walls: { ...walls, door: true }, once: true })
  const { stdout, stderr } = spawnSync(node, ['--no-warnings', supervisor, argument], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^launching\nhttp:\/\/127\.0\.0\.1:\d+\n/)
  expect(stdout).toMatch(/\/node\n.*\/node\n$/)
})

test('open files and processes are limited inside each walls', async () => {
  expect(await output(shell('ulimit -n'))).toBe('100\n')
  const bomb = shell('i=0; while [ $i -lt 80 ]; do sleep 2 & i=$((i+1)); done; echo all')
  const [one, two] = await Promise.all([
    output(bomb),
    output(shell('sleep 1; for i in 1 2 3 4 5; do sleep 0 & done; wait; echo free')),
  ])
  expect(one).toBe('')
  expect(two).toBe('free\n')
})

test('a network of none has a loopback and nothing else', async () => {
  expect(
    (await output(shell('ls /sys/class/net /proc/sys/net/ipv4/conf; cat /proc/net/dev | grep -c :'))).trim().split('\n').at(-1),
  ).toBe('1')
})

test('a variable cannot smuggle an option into the walls', async () => {
  await expect(output({ ...shell('true'), env: { X: `a\0--bind\0/\0/` } })).rejects.toThrow(/NUL character/)
})

test('more masks than can be laid are refused before anything starts', async () => {
  const path = join(walls.workspace.path, 'file')
  writeFileSync(path, '')
  const masks = Array.from({ length: 3_000 }, () => ({ kind: 'readonly', path: sandboxPath(path) }) as const)
  await expect(output(shell('true'), { masks })).rejects.toThrow(/3\d\d\d mounts and masks, more than bubblewrap can lay/)
})

test('an agent that stopped itself is ended like any other', async () => {
  const { child } = await bubblewrap.launch(shell('kill -STOP $$'), walls)
  child.stdout.resume()
  child.stderr.resume()
  const [inner = 0] = childrenOf(child.pid)
  const agentState = () => readFileSync(`/proc/${childrenOf(inner)[0]}/status`, 'utf8').match(/^State:\s+(\w)/m)?.[1]
  await expect.poll(agentState).toBe('T')
  expect(await child.stop({ graceMs: 50 })).toEqual({ code: null, signal: 'SIGKILL' })
})

test('root is refused as a user of the agent', async () => {
  await expect(output(shell('true'), { user: { uid: 0, gid: 0 } })).rejects.toThrow(/never run as root/)
})

test('a machine without bubblewrap is told what to install', async () => {
  expect(await createBubblewrap({ searchPath: base }).probe()).toEqual({
    available: false,
    enforced: false,
    detail: `The program "bwrap" was not found in ${base}; install it, or give its full path.`,
    fix: 'apt-get install bubblewrap',
  })
})

test('a bubblewrap that is too old or cannot build walls says so', async () => {
  const fake = (name: string, script: string) => {
    mkdirSync(join(base, name))
    writeFileSync(join(base, name, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return createBubblewrap({ searchPath: `${join(base, name)}:/usr/bin:/bin` })
  }
  if (user) chmodSync(base, 0o755)
  expect(await fake('old', 'echo bubblewrap 0.4.1').probe()).toMatchObject({
    available: false,
    detail: expect.stringMatching(/0\.4\.1 .* too old/),
  })
  const forbidden =
    'case $1 in --version) echo bubblewrap 0.11.0;; *) echo "bwrap: No permissions to create new namespace" >&2; exit 1;; esac'
  expect(await fake('forbidden', forbidden).probe()).toMatchObject({
    available: false,
    detail: expect.stringContaining('No permissions to create new namespace'),
    fix: expect.stringMatching(/./),
  })
})

test.each(['outer', 'inner'] as const)(
  'a launch whose %s process is killed says that it was interrupted, not that no sandbox can be built',
  async (which) => {
    // Some launches are ready before they are hit; they are ended, and the next one is tried.
    let rejected: unknown
    for (let tries = 0; rejected === undefined && tries < 30; tries++) rejected = await killWhileStarting(which)
    expect(rejected).toBeInstanceOf(LaunchInterrupted)
  },
)

async function killWhileStarting(which: 'outer' | 'inner'): Promise<unknown> {
  const before = new Set(childrenOf(process.pid))
  let isStarting = true
  const launching: Promise<{ walled?: Walled; error?: unknown }> = bubblewrap
    .launch(shell('sleep 100'), { ...walls, door: true })
    .then(
      (walled) => ({ walled }),
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      isStarting = false
    })
  while (isStarting) {
    const outer = childrenOf(process.pid).find((pid) => !before.has(pid) && isBubblewrap(pid))
    const victim = which === 'outer' ? outer : outer && childrenOf(outer)[0]
    if (victim !== undefined) {
      process.kill(victim, 'SIGKILL')
      break
    }
    await new Promise(setImmediate)
  }
  const { walled, error } = await launching
  await walled?.child.stop({ graceMs: 0 })
  return error
}

const isBubblewrap = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'bwrap'
