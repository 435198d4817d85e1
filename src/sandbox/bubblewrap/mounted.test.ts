import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostPath, inPlace, sandboxPath } from '../../domain/base/path.ts'
import { removeTree } from '../files/remove-tree.ts'
import type { Walls } from '../port.ts'
import { agentUser } from '../process/agent-user.ts'
import { assertMounted } from './mounted.ts'
import { createBubblewrap } from './sandbox.ts'

describe.runIf(process.platform === 'linux')('what was mounted', () => {
  let base: string
  let workspace: string
  const started: ChildProcess[] = []
  const isRoot = process.getuid?.() === 0
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-mounted '))
    chmodSync(base, 0o755)
    workspace = join(base, 'ws')
    for (const folder of ['ws/d/.vscode', 'ws/e', 'secret/.vscode', 'home']) mkdirSync(join(base, folder), { recursive: true })
    for (const file of ['ws/d/.vscode/settings.json', 'secret/.vscode/settings.json', 'secret/key'])
      writeFileSync(join(base, file), 'canary')
    for (const folder of ['ws', 'ws/d', 'home']) if (isRoot) chownSync(join(base, folder), agentUser.uid, agentUser.gid)
  })
  afterEach(async () => {
    for (const child of started.splice(0)) if (child.kill('SIGKILL')) await once(child, 'exit')
    await removeTree(base)
  })

  /** A process that sees these mounts. */
  const seeing = async (...mounts: string[]) => {
    const script = ['sh', '-c', 'echo $$; exec sleep 60']
    const child = spawn('bwrap', ['--dev-bind', '/', '/', ...mounts, '--die-with-parent', '--', ...script])
    started.push(child)
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    return Number(said.toString())
  }
  const at = (path: string, source?: string) => ({
    path: sandboxPath(join(base, path)),
    source: source === undefined ? undefined : hostPath(join(base, source)),
  })

  it('is what was planned, where it was planned, whatever its name', async () => {
    const [d, e] = [join(workspace, 'd'), join(workspace, 'e')]
    const first = await seeing('--bind', workspace, workspace, '--ro-bind', d, d, '--tmpfs', e, '--bind', d, join(base, 'home'))
    assertMounted(first, [at('ws', 'ws'), at('ws/d', 'ws/d'), at('ws/e'), at('home', 'ws/d')])
  })

  it('is refused if it came from somewhere else, or if nothing lies where something was to be covered', async () => {
    const d = join(workspace, 'd')
    const first = await seeing('--bind', workspace, workspace, '--bind', join(base, 'secret'), d)
    assertMounted(first, [at('ws', 'ws')])
    expect(() => assertMounted(first, [at('ws/d', 'ws/d')])).toThrow(/was exchanged for something else/)
    expect(() => assertMounted(first, [at('ws/e')])).toThrow(/was exchanged for something else/)
    expect(() => assertMounted(first, [at('ws/e', 'ws/e')])).toThrow(/was exchanged for something else/)
  })

  it('is never what a link leads to, which another agent swaps in for a folder that is held for a mask', async () => {
    symlinkSync(join(base, 'secret'), join(workspace, 'l'))
    // Both names change hands in one step (renameat2, RENAME_EXCHANGE), which Node cannot.
    const swapper = `
import ctypes, sys
call, a, b = ctypes.CDLL(None).renameat2, *[sys.argv[1].encode() + name for name in (b'/d', b'/l')]
print('up', flush=True)
while True:
    call(-100, a, -100, b, 2)
    for _ in range(2000): pass
`
    const swapping = spawn('python3', ['-c', swapper, workspace], { stdio: ['ignore', 'pipe', 'inherit'] })
    started.push(swapping)
    await once(swapping.stdout!, 'data')
    const sandbox = createBubblewrap()
    const walls = (n: number): Walls => ({
      unit: sandbox.killUnit(`mounted-${process.pid}-${n}`, 0),
      workspace: inPlace(workspace),
      home: hostPath(join(base, 'home')),
      hidden: [],
      user: isRoot ? agentUser : undefined,
      network: 'none',
      door: false,
      limits: { processes: 64, openFiles: 256 },
      masks: [{ kind: 'readonly', path: sandboxPath(join(workspace, 'd/.vscode/settings.json')) }],
    })
    const seen = { stood: 0, not: 0, key: 0 }
    for (let n = 0, end = performance.now() + 6_000; performance.now() < end; n++) {
      const command = { file: 'sh', args: ['-c', 'cat d/key l/key 2>/dev/null; echo stood'], env: {} }
      const walled = await sandbox.launch(command, walls(n)).catch(() => undefined)
      if (!walled) {
        seen.not++
        continue
      }
      walled.child.stderr.resume()
      if ((await text(walled.child.stdout)).includes('canary')) seen.key++
      else seen.stood++
      await walled.child.stop({ graceMs: 0 })
    }
    expect(seen.key).toBe(0)
    expect(seen.stood).toBeGreaterThan(0)
    expect(seen.not).toBeGreaterThan(0)
  })
})
