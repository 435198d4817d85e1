import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDirectory } from './directory-handle.ts'
import { syncFileSystems } from './sync.ts'

test('file systems are brought to their disks by one program, and a folder that cannot be asked about is an error', async () => {
  const path = mkdtempSync(join(tmpdir(), 'pawl-sync-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  for (let n = 0; n < 100; n++) writeFileSync(join(path, `${n}`), 'x'.repeat(4_000))
  const folder = (await openDirectory(path))!
  const system = (await openDirectory('/proc'))!
  await syncFileSystems([])
  await syncFileSystems([folder, system])
  await system.close()
  await folder.close()
  await expect(syncFileSystems([folder])).rejects.toThrow()
})
