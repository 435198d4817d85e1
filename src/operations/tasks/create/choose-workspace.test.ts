import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { contextFolders, usableWorkspace } from './choose-workspace.ts'

test('who may work in shared folders alone gets no other, whatever an agent there puts in the place of one meanwhile', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-shared-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const shared = join(base, 'shared')
  for (const path of ['shared/x', 'private']) mkdirSync(join(base, path), { recursive: true })
  symlinkSync(join(base, 'private'), join(shared, 'l'))
  // Both names change hands in one step (renameat2, RENAME_EXCHANGE), which Node cannot.
  const swapper = `
import ctypes, sys
call, a, b = ctypes.CDLL(None).renameat2, *[sys.argv[1].encode() + name for name in (b'/x', b'/l')]
print('up', flush=True)
while True:
    call(-100, a, -100, b, 2)
    for _ in range(500): pass
`
  const swapping = spawn('python3', ['-c', swapper, shared], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    swapping.kill('SIGKILL')
    await once(swapping, 'exit')
  })
  await once(swapping.stdout!, 'data')
  const workspace = { path: shared, isOwn: false }
  const parts = { home: join(base, 'home'), sharedWorkspaces: [shared] }
  const x = join(shared, 'x')
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let end = performance.now() + 3_000; performance.now() < end; ) {
    count(await usableWorkspace(x, { standing: 'operator' }, [shared]).catch(() => 'refused'))
    const folders = await contextFolders(parts, [x], { workspace, standing: 'operator' }).catch(() => ['refused'])
    folders.forEach(count)
  }
  expect([...seen.keys()].toSorted()).toEqual([x, 'refused'])
})
