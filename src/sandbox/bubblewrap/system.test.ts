import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostPath } from '../../domain/base/path.ts'
import { privateSettings, systemView } from './system.ts'

test('links of the machine stay links, and what is missing is left out', () => {
  const { folders, links } = systemView('none')
  expect(folders).toContain('/usr')
  expect(folders.filter((path) => !existsSync(path))).toEqual([])
  expect(links.map(({ path }) => path).filter((path) => folders.includes(hostPath(path)))).toEqual([])
  for (const path of ['/home', '/root', '/proc', '/sys', '/var', '/tmp', '/run']) expect(folders).not.toContain(path)
})

test('of the settings those are covered that the user may read and others may not', () => {
  const base = mkdtempSync(join(tmpdir(), 'pawl-etc-'))
  const { uid, gid } = statSync(base)
  const put = (path: string, mode: number) => {
    mkdirSync(join(base, path, '..'), { recursive: true })
    writeFileSync(join(base, path), '')
    chmodSync(join(base, path), mode)
  }
  put('hosts', 0o644)
  put('shadow', 0o644)
  put('own.conf', 0o600)
  put('group.conf', 0o640)
  put('deep/key', 0o640)
  put('private/key', 0o644)
  chmodSync(join(base, 'private'), 0o750)
  const covered = (groups: number[], own = uid + 1) =>
    privateSettings({ uid: own, gid: gid + 1, groups }, base)
      .map((path) => path.slice(base.length + 1))
      .sort()
  try {
    expect(covered([])).toEqual(['shadow'])
    expect(covered([gid])).toEqual(['deep/key', 'group.conf', 'private', 'shadow'])
    expect(covered([], uid)).toEqual(['deep/key', 'group.conf', 'own.conf', 'private', 'shadow'])
  } finally {
    rmSync(base, { recursive: true })
  }
})
