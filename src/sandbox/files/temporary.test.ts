import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { processIdentity } from '../process/identity.ts'
import { inFolder } from './directory-handle.ts'
import { isLeft, isMadeBy, isTemporary, removeLeft, removeLeftBelow, temporarySuffix } from './temporary.ts'

const dead = spawnSync('true').pid
const { pid, startTime } = processIdentity()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-temporary-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

test('a name says who made it, and is left when that process is gone or was another one of the same number', () => {
  const ours = `base.json${temporarySuffix()}`
  expect([isTemporary(ours), isLeft(ours), isMadeBy(ours, { pid, startTime })]).toEqual([true, false, true])
  expect(ours).not.toBe(`base.json${temporarySuffix()}`)
  for (const name of [`a.${dead}-1-1.tmp`, `a.${pid}-1-1.tmp`, `look.${dead}-1-1.tmp-x7Yz_0`])
    expect([name, isLeft(name)]).toEqual([name, true])
  for (const name of ['notes.tmp', '.pawl-12.tmp', `a.${dead}-1-1.tmp.txt`, `${dead}-1-1.tmp`, `a.${dead}-1.tmp`])
    expect([name, isTemporary(name), isLeft(name)]).toEqual([name, false, false])
})

test('what the dead left is removed, with folders, and nothing that is somebody else’s or that a link leads to', async () => {
  const outside = join(folder, 'outside')
  const home = join(folder, 'home')
  for (const path of [outside, home, join(home, 'tool'), join(home, `half.${dead}-1-2.tmp`)]) mkdirSync(path)
  const living = `b${temporarySuffix()}`
  const names = ['users.txt', living, `a.${dead}-1-1.tmp`, `half.${dead}-1-2.tmp/file`]
  for (const name of names) writeFileSync(join(home, name), '')
  for (const name of [`.pawl-x.${dead}-1-3.tmp`, `other.${dead}-1-4.tmp`]) {
    writeFileSync(join(home, 'tool', name), '')
    writeFileSync(join(outside, name), '')
  }
  symlinkSync(outside, join(home, 'link'))
  symlinkSync(outside, join(home, `.pawl-link.${dead}-1-5.tmp`))
  // Of an agent's home only what has a name of Pawl's.
  await inFolder(home, removeLeftBelow)
  expect(readdirSync(join(home, 'tool'))).toEqual([`other.${dead}-1-4.tmp`])
  await removeLeft(home, (name) => !name.startsWith('a.'))
  expect(readdirSync(home).toSorted()).toEqual([`a.${dead}-1-1.tmp`, living, 'link', 'tool', 'users.txt'].toSorted())
  await removeLeft(home)
  await removeLeft(join(folder, 'nowhere'))
  expect(readdirSync(home).toSorted()).toEqual([living, 'link', 'tool', 'users.txt'].toSorted())
  expect(readdirSync(outside)).toHaveLength(2)
})
