import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inPlace } from '../../domain/base/path.ts'
import { markOf } from '../../sandbox/port.ts'
import { createFiles } from './files.ts'

test('a folder that another agent exchanged is not opened, neither at the start of a run nor later', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-exchanged-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  const [workspace, secret, away] = [join(base, 'ws'), join(base, 'secret'), join(base, 'away')]
  for (const folder of [workspace, secret]) mkdirSync(folder)
  writeFileSync(join(secret, 'key'), 'canary')
  const root = { ...inPlace(workspace), mode: 'rw' as const, mark: markOf(statSync(workspace)) }
  const files = await createFiles({ roots: [root] })
  const enter = async () => {
    const folder = await files.enter(await files.find('.'))
    await folder.close()
    return 'opened'
  }
  const outcome = () => enter().catch((error: Error) => error.message)
  expect(await outcome()).toBe('opened')

  renameSync(workspace, away)
  symlinkSync(secret, workspace)
  expect(await outcome()).toContain('no longer there')
  await expect(createFiles({ roots: [root] })).rejects.toThrow('was exchanged for something else')

  rmSync(workspace)
  renameSync(secret, workspace)
  expect(await outcome()).toContain('no longer there')
  await expect(createFiles({ roots: [root] })).rejects.toThrow('was exchanged for something else')
})
