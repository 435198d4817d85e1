import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentUser } from './agent-user.ts'
import { isTrusted, trustedFolders } from './trusted-program.ts'

const isRoot = process.getuid?.() === 0

test('what the system and its owner alone can write is trusted, outside of the folders that agents write', async () => {
  const { folder, put } = makeFolder()
  const program = put('bin/program')
  expect(await isTrusted('/bin/sh', [])).toBe(true)
  expect(await isTrusted(program, [])).toBe(true)
  expect(await isTrusted(program, [join(folder, 'other'), join(folder, 'bi')])).toBe(true)
  expect(await isTrusted(program, [folder])).toBe(false)
  expect(await isTrusted(program, [join(folder, 'bin')])).toBe(false)
  expect(await isTrusted(program, ['/'])).toBe(false)
  expect(await isTrusted(join(folder, 'nothing'), [])).toBe(false)
})

test('a link is trusted only if everything on the way to its end is', async () => {
  const { folder, put } = makeFolder()
  const [inside, outside] = [put('workspace/program'), put('bin/program')]
  const link = (target: string, name: string) => {
    symlinkSync(target, join(folder, name))
    return join(folder, name)
  }
  const workspace = [join(folder, 'workspace')]
  expect(await isTrusted(link(inside, 'bin/into'), workspace)).toBe(false)
  expect(await isTrusted(link(outside, 'workspace/out'), workspace)).toBe(false)
  link('../workspace', 'bin/folder')
  expect(await isTrusted(join(folder, 'bin/folder/program'), workspace)).toBe(false)
  link('../bin', 'workspace/back')
  expect(await isTrusted(link('../workspace/back/program', 'bin/there-and-back'), workspace)).toBe(false)
  expect(await isTrusted(link('./program', 'bin/near'), workspace)).toBe(true)
  expect(await isTrusted(link('round', 'bin/round'), workspace)).toBe(false)
  // The workspace may itself be named by a link.
  expect(await isTrusted(inside, [link('workspace', 'named')])).toBe(false)
})

test('what everybody may write is trusted in a sticky folder only', async () => {
  const { folder, put } = makeFolder()
  const program = put('bin/program')
  chmodSync(program, 0o777)
  expect(await isTrusted(program, [])).toBe(false)
  chmodSync(program, 0o755)
  chmodSync(join(folder, 'bin'), 0o777)
  expect(await isTrusted(program, [])).toBe(false)
  chmodSync(join(folder, 'bin'), 0o1777)
  expect(await isTrusted(program, [])).toBe(true)
})

test.runIf(isRoot)("what belongs to the agents' user or group, or lies in a stranger's folder, is not trusted", async () => {
  const { folder, put } = makeFolder()
  const program = put('bin/program')
  const owned = async (path: string, uid: number, gid: number, mode: number) => {
    chownSync(path, uid, gid)
    chmodSync(path, mode)
    const answer = await isTrusted(program, [])
    chownSync(path, 0, 0)
    chmodSync(path, 0o755)
    return answer
  }
  expect(await owned(program, agentUser.uid, 0, 0o755)).toBe(false)
  expect(await owned(join(folder, 'bin'), agentUser.uid, 0, 0o755)).toBe(false)
  expect(await owned(join(folder, 'bin'), 0, agentUser.gid, 0o775)).toBe(false)
  expect(await owned(join(folder, 'bin'), 1234, 0, 0o755)).toBe(false)
  expect(await owned(join(folder, 'bin'), 0, 1234, 0o775)).toBe(true)
  expect(await owned(program, 1234, 1234, 0o755)).toBe(true)
})

test('of a search path the trusted folders are left, in their order', async () => {
  const { folder, put } = makeFolder()
  const [bin, local] = [dirname(put('bin/node')), dirname(put('project/node_modules/.bin/node'))]
  const path = `${local}:relative::/usr/bin:${bin}:/no/such/folder`
  expect(await trustedFolders(path, [join(folder, 'project')])).toBe(`/usr/bin:${bin}`)
})

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-trusted-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const put = (name: string) => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
    return file
  }
  return { folder, put }
}
