import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHome } from './engine/home.ts'

const root = resolve(import.meta.dirname, '..')
const folder = 'src/agents/parrot/'
const index = 'src/agents/index.ts'

interface Page {
  /** The files that it says to write, by path. */
  readonly files: ReadonlyMap<string, string>
  readonly importLine: string
}

let copy: string
let page: Page
let home: Awaited<ReturnType<typeof makeHome>>

beforeAll(async () => {
  page = readPage(await readFile(join(root, 'docs/adding-an-agent.md'), 'utf8'))
  copy = await mkdtemp(join(tmpdir(), 'pawl-copy-'))
  home = await makeHome()
  for (const part of [
    'src',
    'bin',
    'package.json',
    'vitest.config.ts',
    'test/longest-first.ts',
    'test/durations.json',
    'test/contracts',
    'test/fake-agent',
  ])
    await cp(join(root, part), join(copy, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(async () => {
  await home.remove()
  await rm(copy, { recursive: true, force: true })
})

test('the page on adding an agent does what it says: a folder, one file outside of it, the contract suite, and a run', async () => {
  const before = await contents(copy)
  for (const [path, text] of page.files) {
    await mkdir(dirname(join(copy, path)), { recursive: true })
    await writeFile(join(copy, path), text)
  }
  await chmod(join(copy, 'bin/parrot'), 0o755)
  await addToList()

  const after = await contents(copy)
  const touched = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path)
  // The program is not ours: it stands for one that somebody has installed.
  const ofUs = touched.filter((path) => path !== 'bin/parrot')
  expect(ofUs.filter((path) => !path.startsWith(folder))).toEqual([index])
  expect(ofUs.filter((path) => path.startsWith(folder)).toSorted()).toEqual(
    ['agent.test.ts', 'agent.ts', 'turn.ts'].map((name) => `${folder}${name}`),
  )

  const workspace = join(home.path, 'work')
  await mkdir(workspace)
  const [suite, agent, first] = await Promise.all([
    start('node_modules/vitest/vitest.mjs', ['run', '--project', 'units', folder], copy),
    start('bin/pawl', ['agents', 'parrot', '--json']),
    start('bin/pawl', ['run', '--agent', 'parrot', '--workspace', workspace, 'hello']),
  ])
  expect(suite.stdout).toMatch(/Tests +\d{2} passed \(\d{2}\)/)
  expect(JSON.parse(agent.stdout)).toMatchObject({
    name: 'parrot',
    tried: { from: '1.0.0', to: '1.4.0' },
    health: { version: '2.0.0', healthy: true, warning: expect.stringContaining('newer than 1.4.0') },
  })
  const newer = 'Parrot 2.0.0 is newer than 1.4.0, the newest that Pawl was tried with'
  expect(first).toMatchObject({ stdout: 'You said: hello\n', stderr: expect.stringContaining(newer) })
  const second = await start('bin/pawl', ['run', '--agent', 'parrot', '--workspace', workspace, 'hello again'])
  expect(second.stdout).toBe('You said: hello again\n')
  expect(second.stderr).not.toContain('newer')
}, 60_000)

function readPage(text: string): Page {
  const files = [...text.matchAll(/^`([\w./-]+)`\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
    ([, path = '', code = '']) => [path, code] as const,
  )
  const [, importLine = ''] = /^```ts\n(import .*)\n```$/m.exec(text) ?? []
  expect(files.map(([path]) => path)).toContain('bin/parrot')
  return { files: new Map(files), importLine }
}

async function addToList(): Promise<void> {
  const text = await readFile(join(copy, index), 'utf8')
  const list = 'export const adapters: readonly Adapter[] = ['
  expect(text.split(list)).toHaveLength(2)
  await writeFile(join(copy, index), `${page.importLine}\n${text.replace(list, `${list}parrot, `)}`)
}

async function contents(of: string): Promise<Map<string, string>> {
  const entries = await readdir(of, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(paths.map(async (path) => [path.slice(of.length + 1), await readFile(path, 'latin1')] as const)),
  )
}

/** Fails with what was printed, if it ends with anything but 0. Not in the copy unless asked: a program that lies in a workspace is not asked for its version. */
const start = (file: string, args: readonly string[], cwd = home.path) =>
  promisify(execFile)(process.execPath, [join(copy, file), ...args], {
    cwd,
    env: {
      PATH: `${join(copy, 'bin')}:${process.env.PATH}`,
      HOME: home.path,
      PAWL_HOME: home.path,
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    },
  })
