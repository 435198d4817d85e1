import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtinProfiles } from '../../domain/profile/builtin.ts'
import type { ProfileMount } from '../../domain/profile/profile.ts'
import { restricted } from '../../domain/profile/restrict.ts'
import { commonCodePaths as codePaths } from '../../domain/workspace/code-paths.ts'
import { markOf } from '../../sandbox/port.ts'
import { prepareWorkspace } from '../workspace/workspace.ts'
import { readyMounts } from './mounts.ts'

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-mounts-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'home/inner'), { recursive: true })
  mkdirSync(join(root, 'data'))
  symlinkSync(join(root, 'data'), join(root, 'link'))
  symlinkSync(join(root, 'home'), join(root, 'sneaky'))
  const mount = (name: string, more: Partial<ProfileMount> = {}): ProfileMount => ({
    name,
    description: '',
    source: join(root, name),
    path: `/m/${name}`,
    mode: 'ro',
    persistent: false,
    required: true,
    ...more,
  })
  const ready = (...mounts: ProfileMount[]) =>
    readyMounts({ name: 'mine', mounts }, { ours: [join(root, 'home')], enforced: true, codePaths })
  return { root, mount, ready }
}

test('mounts are ready as real places; optional ones that are missing are told; persistent ones are made', async () => {
  const { root, mount, ready } = place()
  const missing = mount('gone', { required: false })
  expect(await ready(mount('link'), missing, mount('kept/deep', { persistent: true, mode: 'rw' }))).toMatchObject({
    covered: [],
    mounts: [
      { source: join(root, 'data'), path: '/m/link', mode: 'ro' },
      { source: join(root, 'kept/deep'), path: '/m/kept/deep', mode: 'rw' },
    ],
    there: [expect.objectContaining({ name: 'link' }), expect.objectContaining({ name: 'kept/deep' })],
    leftOut: [
      { mount: missing, why: expect.stringContaining(`The mount "gone" of profile "mine", ${missing.source}, does not exist`) },
    ],
  })
})

test('a folder that a task may read is that folder: a link that was put there since ends the run', async () => {
  const { root, mount, ready } = place()
  const context = (name: string) =>
    restricted(builtinProfiles.guarded, { contextDirs: [join(root, name)] }).mounts.find(({ source }) => source.endsWith(name))!
  const data = join(root, 'data')
  const mark = markOf(statSync(data))
  expect((await ready(context('data'))).mounts).toEqual([{ source: data, path: data, mode: 'ro', mark }])
  await expect(ready(context('link'))).rejects.toThrow('is a link by now')
  expect((await ready(mount('link'))).mounts).toHaveLength(1)
})

test('a required mount that is missing ends the run, with its name and what to do', async () => {
  const { root, mount, ready } = place()
  await expect(ready(mount('gone'))).rejects.toMatchObject({
    category: 'workspace_error',
    message: `The mount "gone" of profile "mine", ${join(root, 'gone')}, does not exist; make it, or mark it "required: false".`,
  })
})

test.for(['home', 'home/inner', 'sneaky', '.'])('Pawl’s own files are never mounted: %s', async (name) => {
  const { mount, ready } = place()
  await expect(ready(mount(name))).rejects.toThrow("would show Pawl's own files")
})

test.for(['work', 'work/inner', '.'])('the workspace is never shown a second time: %s', async (name) => {
  const { root, mount } = place()
  mkdirSync(join(root, 'work/inner'), { recursive: true })
  const ready = (asked: ProfileMount) =>
    readyMounts({ name: 'mine', mounts: [asked] }, { ours: [], workspace: join(root, 'work'), enforced: true, codePaths })
  await expect(ready(mount(name))).rejects.toThrow('would show the workspace')
})

test('a directory of the workspace itself needs no mount', async () => {
  const { root, mount } = place()
  mkdirSync(join(root, 'work/inner'), { recursive: true })
  const inner = mount('work/inner', { path: join(root, 'work/inner') })
  expect(
    await readyMounts({ name: 'mine', mounts: [inner] }, { ours: [], workspace: join(root, 'work'), enforced: true, codePaths }),
  ).toMatchObject({
    mounts: [],
    there: [inner],
    leftOut: [],
  })
})

test('without walls a mount at another path is refused by name', async () => {
  const { root, mount } = place()
  const asked = { name: 'mine', mounts: [mount('data')] }
  await expect(readyMounts(asked, { ours: [], enforced: false, codePaths })).rejects.toMatchObject({
    category: 'sandbox_error',
    message: expect.stringContaining(`The mount "data" of profile "mine", ${join(root, 'data')}, cannot be shown at /m/data`),
  })
  const own = { name: 'mine', mounts: [mount('data', { path: join(root, 'data') })] }
  expect((await readyMounts(own, { ours: [], enforced: false, codePaths })).there).toHaveLength(1)
})

test('an optional mount that cannot be shown is left out with its reason, whatever it is, and the others are there', async () => {
  const { root, mount } = place()
  mkdirSync(join(root, 'work'))
  const optional = { required: false, from: 'user' as const }
  const mounts = [mount('sneaky', optional), mount('work', optional), mount('gone', optional), mount('data', optional)]
  const ready = await readyMounts(
    { name: 'mine', mounts },
    { ours: [join(root, 'home')], workspace: join(root, 'work'), enforced: true, codePaths },
  )
  expect(ready.mounts).toEqual([{ source: join(root, 'data'), path: '/m/data', mode: 'ro' }])
  expect(ready.leftOut.map(({ why }) => why)).toEqual([
    expect.stringMatching(/^The mount "sneaky" of the user, .* would show Pawl's own files/),
    expect.stringContaining('would show the workspace'),
    expect.stringContaining('does not exist'),
  ])
})

test('a mount with an alias is seen at both places, and without walls at its own', async () => {
  const { root, mount } = place()
  const source = join(root, 'data')
  const mounts = [mount('data', { path: source, alias: '/mnt/shop', mode: 'rw' })]
  expect((await readyMounts({ name: 'mine', mounts }, { ours: [], enforced: true, codePaths })).mounts).toEqual([
    { source, path: source, mode: 'rw' },
    { source, path: '/mnt/shop', mode: 'rw' },
  ])
  expect((await readyMounts({ name: 'mine', mounts }, { ours: [], enforced: false, codePaths })).mounts).toEqual([
    { source, path: source, mode: 'rw' },
  ])
})

test('a mount inside the workspace leads nowhere else: an agent may have put a link in its place', async () => {
  const { root, mount } = place()
  const workspace = join(root, 'data')
  const ready = (one: ProfileMount) =>
    readyMounts({ name: 'mine', mounts: [one] }, { ours: [join(root, 'home')], enforced: true, codePaths, workspace })
  mkdirSync(join(root, 'private'))
  symlinkSync(join(root, 'private'), join(workspace, 'cache'))
  const inside = (path: string) =>
    mount('cache', { source: join(workspace, path), path: join(workspace, path), persistent: true })
  await expect(ready(inside('cache'))).rejects.toThrow('is a link, or lies behind one')
  await expect(ready(inside('cache/deeper'))).rejects.toThrow('does not exist')
  expect(readdirSync(join(root, 'private'))).toEqual([])
  expect((await ready(inside('new/cache'))).there).toHaveLength(1)
  expect(statSync(join(workspace, 'new/cache')).isDirectory()).toBe(true)
})

test('of a task they are held against what they were, files as well, also if a link comes and goes', async () => {
  const { root, mount, ready } = place()
  writeFileSync(join(root, 'file'), '')
  const ofTask = mount('file', { from: 'task', path: '/m/file' })
  expect((await ready(ofTask)).mounts).toMatchObject([{ mark: markOf(statSync(join(root, 'file'))) }])
  mkdirSync(join(root, 'shared/x'), { recursive: true })
  symlinkSync(join(root, 'data'), join(root, 'shared/l'))
  await swapping(join(root, 'shared/x'), join(root, 'shared/l'))
  const x = mount('shared/x', { from: 'task', path: '/m/x' })
  const seen = { ready: 0, refused: 0 }
  for (let end = performance.now() + 2_000; performance.now() < end; ) {
    const { mounts } = await ready(x).catch(() => ({ mounts: [] }))
    for (const { mark } of mounts) expect(mark).toBeDefined()
    seen[mounts.length > 0 ? 'ready' : 'refused']++
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
})

test('a workspace is held against what it was, also if a link comes and goes while it is looked at', async () => {
  const { root } = place()
  mkdirSync(join(root, 'shared/x'), { recursive: true })
  symlinkSync(join(root, 'data'), join(root, 'shared/l'))
  await swapping(join(root, 'shared/x'), join(root, 'shared/l'))
  const signal = new AbortController().signal
  const plan = { own: false, user: undefined, task: 'task', fence: 1, without: join(root, 'home'), paths: [], signal }
  const path = join(root, 'shared/x')
  const seen = { ready: 0, refused: 0 }
  for (let end = performance.now() + 3_000; performance.now() < end; ) {
    const prepare = prepareWorkspace({ ...plan, path, folder: join(root, 'copies'), onCopy: () => undefined })
    const workspace = await prepare.catch(() => undefined)
    if (workspace) expect(workspace.mark).toBeDefined()
    seen[workspace ? 'ready' : 'refused']++
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
})

/** Has both names change hands in one step (renameat2, RENAME_EXCHANGE), which Node cannot, until the test is over. */
async function swapping(one: string, other: string): Promise<void> {
  const swapper = `
import ctypes, sys
call, a, b = ctypes.CDLL(None).renameat2, *[name.encode() for name in sys.argv[1:]]
print('up', flush=True)
while True:
    call(-100, a, -100, b, 2)
    for _ in range(500): pass
`
  const child = spawn('python3', ['-c', swapper, one, other], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child.stdout!, 'data')
}
