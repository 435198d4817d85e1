import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../test/engine/until.ts'
import { ownTools } from './own-tools.ts'
import type { ToolPlace } from './tool.ts'

let folder: string
let workspace: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-loop-tools-'))
  workspace = join(folder, 'workspace')
  await mkdir(workspace)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** One that has ended may wait for whoever asks how. */
const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
const never = new AbortController().signal
const use = (name: string, input: Record<string, unknown>, changes: Partial<ToolPlace> = {}) =>
  ownTools
    .find((tool) => tool.name === name)!
    .run(input, { workspace, confinedTo: [workspace], signal: never, maxChars: 2_000, canSee: false, ...changes })
const inside = (name: string) => join(workspace, name)

test('a file is written, read by lines, and changed in one place', async () => {
  await use('write', { path: 'deep/er/a.txt', content: 'one\ntwo\nthree\n' })
  expect((await use('read', { path: 'deep/er/a.txt', offset: '2', limit: 1 })).output).toBe(
    '2\ttwo\n[2 more lines; go on with offset 3]',
  )
  await chmod(inside('deep/er/a.txt'), 0o755)
  await use('edit', { filePath: 'deep/er/a.txt', oldString: 'two', newString: '$& zwei' })
  expect(await readFile(inside('deep/er/a.txt'), 'utf8')).toBe('one\n$& zwei\nthree\n')
  expect((await stat(inside('deep/er/a.txt'))).mode & 0o777).toBe(0o755)
})

test('a change that is not clear is refused, and the file stays as it was', async () => {
  await writeFile(inside('a.txt'), 'x x')
  await expect(use('edit', { path: 'a.txt', oldText: 'y', newText: 'z' })).rejects.toThrow('oldText is not in a.txt')
  await expect(use('edit', { path: 'a.txt', oldText: 'x', newText: 'z' })).rejects.toThrow('2 times')
  await use('edit', { path: 'a.txt', oldText: 'x', newText: 'z', replaceAll: true })
  expect(await readFile(inside('a.txt'), 'utf8')).toBe('z z')
})

test('nothing outside of the workspace is read or written, by whatever way', async () => {
  await writeFile(join(folder, 'secret'), 'secret')
  await symlink(join(folder, 'secret'), inside('link'))
  await symlink(folder, inside('up'))
  for (const path of ['../secret', join(folder, 'secret'), 'link', 'up/secret', 'up/new/er'])
    await expect(use('read', { path })).rejects.toThrow(/outside of the workspace/)
  await expect(use('write', { path: 'up/new', content: 'x' })).rejects.toThrow(/outside of the workspace/)
  await expect(use('grep', { pattern: 'secret', path: 'up' })).rejects.toThrow(/outside of the workspace/)
  expect(existsSync(join(folder, 'new'))).toBe(false)
  expect((await use('read', { path: 'link' }, { confinedTo: undefined })).output).toBe('1\tsecret')
})

test('what is no text, too much, or not there is refused with a sentence', async () => {
  await writeFile(inside('bytes'), Buffer.from([1, 0, 2]))
  await writeFile(inside('large'), 'x'.repeat(11 * 1024 * 1024))
  await expect(use('read', { path: 'bytes' })).rejects.toThrow('bytes is no text.')
  await expect(use('read', { path: 'large' })).rejects.toThrow('too much to read')
  await expect(use('read', { path: 'gone' })).rejects.toThrow('ENOENT')
  await expect(use('read', { path: '.' })).rejects.toThrow('use list')
  await expect(use('read', {})).rejects.toThrow('The argument "path" is missing')
})

test('folders are listed and searched, without what nobody wants to see', async () => {
  for (const name of ['a.ts', 'src/b.ts', 'src/c.md', 'node_modules/d.ts', '.git/e'])
    await use('write', { path: name, content: `find me in ${name}\n` })
  expect((await use('list', {})).output.split('\n')).toEqual(['.git/', 'a.ts', 'node_modules/', 'src/'])
  expect((await use('list', { recursive: true })).output).toContain('src/b.ts')
  const { output } = await use('grep', { pattern: 'find (me|you)', include: '*.ts' })
  expect(output.split('\n').toSorted()).toEqual(['./a.ts:1:find me in a.ts', './src/b.ts:1:find me in src/b.ts'])
  expect((await use('grep', { pattern: '-nothing' })).output).toBe('(nothing found)')
})

test('a command gives what it prints, its code, and no more than is allowed of it', async () => {
  expect(await use('bash', { command: 'pwd; echo oops >&2; exit 3' })).toEqual({
    output: `${workspace}\noops\n[exit code 3]`,
    isError: true,
  })
  const { output } = await use('bash', { command: 'seq 1 100000' })
  expect(output.length).toBeLessThan(2_100)
  expect(output).toMatch(/^1\n2\n.*bytes left out.*100000$/s)
})

test('a command that takes too long, or is interrupted, is ended with all that it started', async () => {
  const command = 'sleep 60 & echo $! > pid; wait'
  const left = async () => Number(await readFile(inside('pid'), 'utf8'))
  expect(await use('bash', { command, timeout: 1 })).toMatchObject({
    isError: true,
    output: expect.stringContaining('ended after 1 seconds'),
  })
  await until(async () => !isRunning(await left()))
  await rm(inside('pid'))
  const stop = new AbortController()
  const over = use('bash', { command }, { signal: stop.signal })
  await until(() => existsSync(inside('pid')))
  stop.abort()
  await over
  await until(async () => !isRunning(await left()))
})

test('what a command leaves in the background does not hold it up, and is ended too', async () => {
  await use('bash', { command: 'sleep 60 & echo $! > pid' })
  const pid = Number(await readFile(inside('pid'), 'utf8'))
  await until(() => !isRunning(pid))
})
