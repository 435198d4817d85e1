import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { watchDisk } from './disk-watch.ts'

const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-disk-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const megabyte = 1024 * 1024
const limitOf = (folder: string, limits: { mostBytes: number; mostFiles?: number }) => {
  const told = Promise.withResolvers<string>()
  const stop = watchDisk({ folders: [folder], ...limits, clock: systemClock, onLimit: told.resolve })
  return { told: told.promise, stop }
}

test('a run that writes more than it may is told on, with how much it wrote', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'earlier'), Buffer.alloc(4 * megabyte, 1))
  // Its time must lie before the start of the run.
  await new Promise((later) => setTimeout(later, 60))
  const { told, stop } = limitOf(folder, { mostBytes: 20 * megabyte })
  writeFileSync(join(folder, 'data'), Buffer.alloc(64 * megabyte, 1), { flush: true })
  expect(await told).toMatch(/^The agent wrote 6\d MB to the disk, more than limits\.disk of its profile allows\.$/)
  stop()
}, 60_000)

test('a run is told on also if others free as much as it takes', async () => {
  const [folder, others] = [newFolder(), newFolder()]
  writeFileSync(join(others, 'data'), Buffer.alloc(128 * megabyte, 1), { flush: true })
  const { told, stop } = limitOf(folder, { mostBytes: 20 * megabyte })
  rmSync(join(others, 'data'))
  writeFileSync(join(folder, 'data'), Buffer.alloc(64 * megabyte, 1), { flush: true })
  expect(await told).toContain('more than limits.disk of its profile allows')
  stop()
}, 60_000)

test('a folder that is not there hides nothing of what is written to the others', async () => {
  const folder = newFolder()
  const told = Promise.withResolvers<string>()
  const watched = { folders: [join(folder, 'none'), folder], mostBytes: 20 * megabyte, clock: systemClock }
  const stop = watchDisk({ ...watched, onLimit: told.resolve })
  writeFileSync(join(folder, 'data'), Buffer.alloc(64 * megabyte, 1), { flush: true })
  expect(await told.promise).toContain('more than limits.disk of its profile allows')
  stop()
}, 60_000)

test('a sparse file counts for what it takes, not for what it claims', async () => {
  const folder = newFolder()
  const { told, stop } = limitOf(folder, { mostBytes: 20 * megabyte })
  writeFileSync(join(folder, 'sparse'), '')
  truncateSync(join(folder, 'sparse'), 1024 * 1024 * megabyte)
  const quiet = new Promise((later) => setTimeout(() => later('nothing was told'), 2_500))
  expect(await Promise.race([told, quiet])).toBe('nothing was told')
  stop()
})

test('what is written too deep to be looked at is not overlooked', async () => {
  const folder = newFolder()
  const { told, stop } = limitOf(folder, { mostBytes: 20 * megabyte })
  const deep = `
    const fs = require('fs')
    for (let i = 0; i < 300; i++) { fs.mkdirSync('d'); process.chdir('d') }
    fs.writeFileSync('data', Buffer.alloc(64 * 1024 * 1024, 1), { flush: true })`
  execFileSync(process.execPath, ['-e', deep], { cwd: folder })
  expect(await told).toMatch(/^The agent made folders too deep to be looked into/)
  stop()
  await removeTree(folder)
}, 60_000)
