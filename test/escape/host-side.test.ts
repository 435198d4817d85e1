import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { agentCodePaths } from '../../src/agents/index.ts'
import { oneLine, plain } from '../../src/cli/text/plain.ts'
import { hostPath, sandboxPath } from '../../src/domain/base/path.ts'
import { newId } from '../../src/domain/id.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import { commonCodePaths } from '../../src/domain/workspace/code-paths.ts'
import { bringBack } from '../../src/engine/workspace/bring-back.ts'
import { cloneWorkspace } from '../../src/engine/workspace/clone.ts'
import { guardWorkspace } from '../../src/engine/workspace/guard.ts'
import { readTree } from '../../src/engine/workspace/tree.ts'
import { rows } from './rows.ts'

const named = (row: number, end: string) => `${row}. ${rows.find((one) => one.row === row)?.attempt}: ${end}`
let base: string
const at = (...parts: string[]) => join(base, ...parts)
const put = (path: string, content: string) => {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), content)
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pawl-host-'))
  put('outside/secret', 'the secret')
  put('original/d/a', 'a')
  put('original/keep', 'keep')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const bring = async (tree: Awaited<ReturnType<typeof readTree>>) => bringBack({ copy: at('copy'), ...placesOf() }, tree)
const placesOf = () => ({ original: at('original'), without: at('home'), temporaryName: '.pawl-escape.tmp' })
/** Of regular files, without following anything. */
function textsOf(folder: string): string[] {
  return readdirSync(at(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? textsOf(path) : entry.isFile() ? [readFileSync(at(path), 'utf8')] : []
  })
}

it(named(6, 'nothing outside is read or written'), async () => {
  execFileSync('cp', ['-a', at('original'), at('copy')])
  const tree = await readTree(at('original'))
  rmSync(at('copy/d'), { recursive: true })
  symlinkSync(at('outside'), at('copy/d'))
  symlinkSync(at('outside/secret'), at('copy/link'))
  symlinkSync('/proc/self/environ', at('copy/environ'))
  rmSync(at('copy/keep'))
  execFileSync('mkfifo', [at('copy/keep'), at('copy/pipe')])
  await bring(tree)
  // Links stay links; what they lead to was not opened.
  expect(textsOf('original').filter((text) => text.includes('secret'))).toEqual([])
  expect(textsOf('outside')).toEqual(['the secret'])
  // A second time, now that the original itself has the link.
  put('copy2/d/secret', 'overwritten')
  await bringBack({ copy: at('copy2'), ...placesOf() }, new Map())
  expect(textsOf('outside')).toEqual(['the secret'])
})

it(named(8, 'in a thousand races nothing of the outside comes in'), async () => {
  execFileSync('cp', ['-a', at('original'), at('copy')])
  const tree = await readTree(at('original'))
  put('outside/a', 'the secret')
  for (let n = 0; n < 20; n++) put(`outside/new-${n}`, 'the secret')
  const swapper = `
$| = 1; my ($d, $o) = @ARGV; print "up\\n";
while (1) { rename $d, "$d.away"; symlink $o, $d; select undef, undef, undef, 0.0002; unlink $d; rename "$d.away", $d; select undef, undef, undef, 0.0002 }`
  const swapping = spawn('perl', ['-e', swapper, at('copy/d'), at('outside')], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(swapping.stdout, 'data')
  try {
    for (let round = 0; round < 50; round++) {
      for (let n = 0; n < 20; n++)
        try {
          writeFileSync(at(`copy/d/new-${n}`), `mine ${round}`)
        } catch {
          // Swapped at this moment.
        }
      await bring(tree).catch(() => undefined)
      const leaked = textsOf('original').filter((text) => text.includes('secret'))
      expect(leaked).toEqual([])
    }
  } finally {
    swapping.kill('SIGKILL')
    await once(swapping, 'exit')
  }
})

it('thousands of planted files do not keep a run from ending', async () => {
  const [root, home] = [at('original'), at('home')]
  mkdirSync(home)
  const guard = await guardWorkspace({
    run: newId('run', Date.now()),
    home,
    workspace: { source: hostPath(root), path: sandboxPath(root), guardFile: undefined },
    paths: [...commonCodePaths, ...agentCodePaths],
    profile: builtinProfiles.guarded,
    enforced: true,
    user: undefined,
    records: at('records'),
  })
  for (let n = 0; n < 3000; n++) put(`original/m/${n}/.mcp.json`, 'planted')
  await guard.settle()
  expect(textsOf('original').filter((text) => text === 'planted')).toEqual([])
})

it(named(44, 'nothing runs when Pawl clones'), async () => {
  const canary = at('ran')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: at('original'),
      stdio: 'pipe',
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: base },
    })
  git('init', '-q')
  put('original/.gitattributes', '* filter=evil diff=evil merge=evil\n')
  put('original/.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ran"\n\tupdate = !touch ran\n')
  git('add', '-A')
  git('commit', '-qm', 'first')
  const evil = `touch ${canary}; cat`
  for (const name of [
    'filter.evil.smudge',
    'filter.evil.clean',
    'filter.evil.process',
    'core.fsmonitor',
    'diff.evil.textconv',
    'diff.external',
    'core.sshCommand',
    'core.pager',
    'uploadpack.packObjectsHook',
    'credential.helper',
    'core.askPass',
    'gpg.program',
    'core.editor',
  ])
    git('config', name, evil)
  put('original/.git/hooks/post-checkout', `#!/bin/sh\ntouch ${canary}\n`)
  execFileSync('chmod', ['+x', at('original/.git/hooks/post-checkout')])
  const plan = {
    original: at('original'),
    folder: at('clones'),
    task: 'tsk_1',
    without: at('home'),
    owner: undefined,
    paths: [],
    signal: new AbortController().signal,
  }
  await cloneWorkspace(plan)
  expect(existsSync(canary)).toBe(false)
  // The same repository, by a git that is run plainly.
  put('original/keep', 'changed')
  try {
    git('status')
  } catch {
    // What it starts may fail; that it was started is enough.
  }
  expect(existsSync(canary)).toBe(true)
})

it(named(50, 'no control character, no hidden and no reordered text is left'), () => {
  const forged = [
    '\x1b]52;c;ZXZpbA==\x07',
    '\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\',
    '\x1b[2J\x1b[Hpawl: all checks passed',
    '\x9b2Jx',
    '\x90q\x9c',
    'safe\rEVIL',
    'a\bb\x7f',
    '\x1b]0;title\x07',
    '\x1bP$q"p\x1b\\',
    '\x1b[?1049h',
    '\x1b',
    '\x1b[',
    '\u202egnp.exe',
    '\u2066x\u2069',
    'a\u200bb\u2060c\ufeffd',
    '\u{e0041}tag',
    'line\u2028two\u2029three\u0085four',
  ]
  const steering = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u
  for (const text of forged) {
    expect([text, steering.test(plain(text))]).toEqual([text, false])
    expect([text, steering.test(oneLine(text, 40)), oneLine(text, 40).includes('\n')]).toEqual([text, false, false])
  }
})
